import type { KubernetesObject } from './kubernetes-object.js'

/** Of so many names the object is kept: one that was forgotten costs a heartbeat a read. */
const MOST = 10_000

/** The objects that were read or written last, by lease name, and what was said of them. */
export class RecentObjects {
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #said = new Map<string, string>()

  keep(name: string, object: KubernetesObject): void {
    put(this.#objects, name, object)
  }

  /** The object of that version, if it is the last one seen. */
  get(name: string, version: string): KubernetesObject | undefined {
    const object = this.#objects.get(name)
    return object?.metadata.resourceVersion === version ? object : undefined
  }

  versionOf(name: string): string | undefined {
    return this.#objects.get(name)?.metadata.resourceVersion
  }

  /** Whether this was not what was said of the name last. */
  isNewly(name: string, said: string): boolean {
    if (this.#said.get(name) === said) return false
    put(this.#said, name, said)
    return true
  }
}

/** Makes it the youngest, at the cost of the oldest. */
function put<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name)
  map.set(name, value)
  if (map.size <= MOST) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
