import { randomUUID } from 'node:crypto'
import { wallTime } from '@leasehold/core/store-kit'

/** An object as it stands in the store. */
export interface StoredObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly [field: string]: unknown
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly version: number
  readonly object: StoredObject
}

/** A stand-in for etcd: objects under one revision counter, and their events. */
export class ObjectStore {
  readonly #objects = new Map<string, StoredObject>()
  readonly #events: StoredEvent[] = []
  readonly #listeners = new Set<(event: StoredEvent) => void>()
  #revision = 100
  #sorted: string[] | undefined
  /** Up to where events have been forgotten. */
  #compacted = 0

  get revision(): number {
    return this.#revision
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  keys(): Iterable<string> {
    return this.#objects.keys()
  }

  /** Up to `limit` objects under a prefix, in the order of their keys, after the given key. */
  page(prefix: string, after: string, limit: number): { readonly objects: StoredObject[]; readonly last?: string } {
    this.#sorted ??= [...this.#objects.keys()].sort((one, other) => (one < other ? -1 : 1))
    const keys = this.#sorted
    let [low, high] = [0, keys.length]
    const from = after === '' ? prefix : `${after}\0`
    while (low < high) {
      const middle = (low + high) >> 1
      if ((keys[middle] ?? '') < from) low = middle + 1
      else high = middle
    }
    const found: string[] = []
    for (let place = low; found.length < limit && keys[place]?.startsWith(prefix) === true; place += 1) {
      found.push(keys[place] as string)
    }
    const isMore = keys[low + found.length]?.startsWith(prefix) === true
    const objects = found.map((key) => this.#objects.get(key) as StoredObject)
    return { objects, ...(isMore ? { last: found.at(-1) as string } : {}) }
  }

  /** Whether events and snapshots before a revision are gone. */
  isCompacted(revision: number): boolean {
    return revision < this.#compacted
  }

  /** Under a new revision, unless nothing changes: then the object keeps its version, without an event. */
  put(key: string, content: Omit<StoredObject, 'metadata'> & { metadata: Record<string, unknown> }): StoredObject {
    const before = this.#objects.get(key)
    const made = before?.metadata ?? { uid: randomUUID(), creationTimestamp: wholeSeconds() }
    const stored = (resourceVersion: string): StoredObject => {
      const { uid, creationTimestamp } = made
      return { ...content, metadata: { ...content.metadata, uid, creationTimestamp, resourceVersion } } as StoredObject
    }
    if (before !== undefined && same(stored(before.metadata.resourceVersion), before)) return before
    this.#revision += 1
    const object = stored(String(this.#revision))
    if (before === undefined) this.#sorted = undefined
    this.#objects.set(key, object)
    this.#tell({ type: before === undefined ? 'ADDED' : 'MODIFIED', key, version: this.#revision, object })
    return object
  }

  delete(key: string): StoredObject | undefined {
    const before = this.#objects.get(key)
    if (before === undefined) return undefined
    this.#sorted = undefined
    this.#objects.delete(key)
    this.#revision += 1
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(this.#revision) } }
    this.#tell({ type: 'DELETED', key, version: this.#revision, object })
    return before
  }

  /** The events since a revision; `undefined` if they are compacted. */
  since(revision: number): readonly StoredEvent[] | undefined {
    return revision < this.#compacted ? undefined : this.#events.filter(({ version }) => version > revision)
  }

  compact(): void {
    this.#compacted = this.#revision
  }

  listen(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(event: StoredEvent): void {
    this.#events.push(event)
    for (const listener of this.#listeners) listener(event)
  }
}

function wholeSeconds(): string {
  return new Date(wallTime()).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Whether both say the same, in whatever order. */
function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, ordered(field)]))
}
