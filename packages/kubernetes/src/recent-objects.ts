import type { KubernetesObject } from './kubernetes-object.js'

/** The largest number of objects that are kept. A heartbeat without its object needs a read. */
const MOST = 10_000

/** The objects as last read or written, by lease name, and the last warning for each. */
export class RecentObjects {
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #warnings = new Map<string, string>()

  keep(name: string, object: KubernetesObject): void {
    put(this.#objects, name, object)
  }

  /** The object, if this is the last version seen. */
  get(name: string, version: string): KubernetesObject | undefined {
    const object = this.#objects.get(name)
    return object?.metadata.resourceVersion === version ? object : undefined
  }

  versionOf(name: string): string | undefined {
    return this.#objects.get(name)?.metadata.resourceVersion
  }

  /** Whether the warning differs from the last one for this name. */
  isNewly(name: string, warning: string): boolean {
    if (this.#warnings.get(name) === warning) return false
    put(this.#warnings, name, warning)
    return true
  }
}

/** Adds an entry as the newest, and drops the oldest if there are too many. */
function put<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name)
  map.set(name, value)
  if (map.size <= MOST) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
