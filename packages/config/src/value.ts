import type { Assignment, Slot, Unresolved } from './slot.js'
import type { Origin, Scalar } from './syntax-tree.js'

/** The value of a substitution. Its type is known. Elements and fields are resolved when first read. */
export type Value = Scalar | ListValue | ObjectView

/** An element of a list. An optional substitution without a value is left out of the list. */
export type Item = Value | (Unresolved & { readonly kind: 'unresolved' })

/** A list whose elements may not be resolved yet. */
export class ListValue {
  readonly kind = 'list'
  readonly origin: Origin
  readonly length: number
  /** Can be longer than this list: a list and the lists made from it by `concat` share the array. */
  readonly #items: Item[]

  constructor(items: Item[], origin: Origin) {
    this.#items = items
    this.origin = origin
    this.length = items.length
  }

  get items(): readonly Item[] {
    return this.length === this.#items.length ? this.#items : this.#items.slice(0, this.length)
  }

  /** Appends another list. The first `concat` of a list takes time proportional to the length of `other` only. */
  concat(other: ListValue): ListValue {
    const items = this.length === this.#items.length ? this.#items : this.#items.slice(0, this.length)
    // A copy, because `other` can be this list.
    for (const item of [...other.items]) items.push(item)
    return new ListValue(items, this.origin)
  }
}

/** The part of a slot's history that an object consists of: from `from` (inclusive) to `to` (exclusive). */
export interface SlotLayer {
  readonly kind: 'slot'
  readonly slot: Slot
  readonly from: number
  readonly to: number
  readonly origin: Origin
}

/** A value, or a part of an object, and its assignment, if any. */
export interface Fact {
  readonly value: Value | SlotLayer
  readonly assignment?: Assignment | undefined
}

/** A resolved key: its value and the assignment that determined it. */
export type Entry = Fact & { readonly value: Value }

/** The operations of the resolver that a view needs. */
export interface Resolution {
  /** How often a value was hidden because it was being resolved. Results that depend on hidden values are not cached. */
  readonly cuts: number
  /** Changes whenever the set of assignments being resolved changes. */
  readonly epoch: number
  /** Counts a value as hidden. */
  cut(): undefined
  /** Counts steps of work. Throws a `ConfigLimitError` if there are too many. */
  step(origin: Origin, count?: number): void
  /** Runs `work` one nesting level deeper. Throws a `ConfigLimitError` if `maxDepth` is exceeded. */
  deeper<T>(origin: Origin, work: () => T): T
  /** The facts of a part of a slot's history, the last one first. */
  facts(slot: Slot, from: number, to: number): Iterable<Fact>
}

const KEYS = Symbol('keys')

/**
 * An object merged from layers. The first layer wins. Layers and their fields are resolved when first read, because a
 * substitution can refer to one key of an object while another key is being resolved.
 */
export class ObjectView {
  readonly kind = 'object'
  readonly origin: Origin
  readonly #resolution: Resolution
  readonly #layers: (SlotLayer | ObjectView)[]
  readonly #entries = new Map<string, Entry | undefined>()
  #rest: Iterator<Fact, undefined> | undefined
  /** Caches `#isPending` by key. An entry is valid only for its epoch. */
  readonly #checked = new Map<string, { readonly epoch: number; readonly isPending: boolean }>()
  /** The questions being answered, each with the epoch of its start: the value of a key, or all keys. */
  readonly #answering = new Map<string | typeof KEYS, number>()
  /** A key whose value overrides the layers. */
  #replaced: { readonly key: string; readonly entry: Entry } | undefined
  #isAdvancing = false
  #keys: ReadonlySet<string> | undefined

  /** `rest`: facts that provide further layers, up to the first fact that is not an object. */
  constructor(resolution: Resolution, layers: readonly (SlotLayer | ObjectView)[], rest?: Iterator<Fact, undefined>) {
    this.#resolution = resolution
    this.#layers = [...layers]
    this.#rest = rest
    this.origin = layers[0]?.origin ?? { source: '', line: 0, column: 0 }
  }

  get(key: string): Entry | undefined {
    if (this.#replaced?.key === key) return this.#replaced.entry
    if (this.#entries.has(key) && !this.#isPending(key)) return this.#entries.get(key)
    const { cuts } = this.#resolution
    const entry = this.#answer(key, () => this.#evaluate(key))
    if (this.#resolution.cuts === cuts) this.#entries.set(key, entry)
    return entry
  }

  /** Answers a question, unless it is repeated: an object can be a layer of one of its own layers, which adds nothing. */
  #answer<T>(question: string | typeof KEYS, work: () => T): T | undefined {
    const { epoch } = this.#resolution
    const outer = this.#answering.get(question)
    if (outer === epoch) return this.#resolution.cut()
    this.#answering.set(question, epoch)
    try {
      return work()
    } finally {
      if (outer === undefined) this.#answering.delete(question)
      else this.#answering.set(question, outer)
    }
  }

  /** Whether a part of the key's value is being resolved and is therefore hidden. */
  #isPending(key: string): boolean {
    const { epoch } = this.#resolution
    const checked = this.#checked.get(key)
    if (checked?.epoch === epoch) return checked.isPending
    // A preliminary result ends the recursion of an object that is its own layer.
    this.#checked.set(key, { epoch, isPending: false })
    const isPending = this.#layers.some((layer) =>
      layer.kind === 'object' ? layer.#isPending(key) : (layer.slot.children?.get(key)?.pending ?? Infinity) < Infinity,
    )
    this.#checked.set(key, { epoch, isPending })
    return isPending
  }

  /** Drops the cached value of a key. */
  forget(key: string): void {
    this.#entries.delete(key)
    for (const layer of this.#layers) if (layer.kind === 'object') layer.forget(key)
  }

  /** All keys. The keys of the lowest layer come first. */
  keys(): ReadonlySet<string> {
    if (this.#keys !== undefined) return this.#keys
    const { cuts } = this.#resolution
    const keys = this.#answer(KEYS, () => this.#collectKeys()) ?? new Set()
    if (this.#resolution.cuts === cuts) this.#keys = keys
    return keys
  }

  #collectKeys(): Set<string> {
    this.#resolution.step(this.origin, this.#allLayers().length)
    const keys = new Set<string>()
    for (const layer of [...this.#allLayers()].reverse()) {
      if (layer.kind === 'object')
        for (const key of this.#resolution.deeper(layer.origin, () => layer.keys())) keys.add(key)
      else
        for (const [key, child] of layer.slot.children ?? []) if (child.hasEventIn(layer.from, layer.to)) keys.add(key)
    }
    return keys
  }

  /** Merges another object over this one. */
  overriddenBy(other: ObjectView): ObjectView {
    // Flat instead of nested layers, so that a chain of merges does not add nesting levels.
    const layers = [...new Set([...other.#flatLayers(), ...this.#flatLayers()])]
    this.#resolution.step(this.origin, layers.length)
    return new ObjectView(this.#resolution, layers)
  }

  /** The underlying object, if this view only wraps another one. Otherwise this object. */
  original(): ObjectView {
    const only = this.#replaced === undefined && this.#layer(1) === undefined ? this.#layer(0) : undefined
    return only?.kind === 'object' ? only.original() : this
  }

  /** A copy with another value for one key. */
  replacing(key: string, value: Value): ObjectView {
    const view = new ObjectView(this.#resolution, [this])
    view.#replaced = { key, entry: { value } }
    return view
  }

  #evaluate(key: string): Entry | undefined {
    const facts = this.#facts(key)
    const first = facts.next()
    if (first.done) return undefined
    const { value, assignment } = first.value
    if (value.kind !== 'slot' && value.kind !== 'object') return { value, assignment }
    return { value: new ObjectView(this.#resolution, [value], facts), assignment }
  }

  *#facts(key: string): Generator<Fact, undefined> {
    for (let place = 0; ; place += 1) {
      const layer = this.#layer(place)
      if (layer === undefined) return undefined
      this.#resolution.step(this.origin)
      if (layer.kind === 'object') {
        const entry = this.#resolution.deeper(layer.origin, () => layer.get(key))
        if (entry !== undefined) yield entry
      } else {
        const child = layer.slot.children?.get(key)
        if (child !== undefined) yield* this.#resolution.facts(child, layer.from, layer.to)
      }
    }
  }

  #allLayers(): readonly (SlotLayer | ObjectView)[] {
    while (this.#layer(this.#layers.length) !== undefined) {
      // `#layer` adds the layer.
    }
    return this.#layers
  }

  /** The layers, with object layers replaced by their own layers. */
  #flatLayers(): readonly (SlotLayer | ObjectView)[] {
    const layers = this.#replaced === undefined ? this.#allLayers() : [this]
    return layers.flatMap((layer) =>
      layer.kind === 'object' && layer.#rest === undefined && layer.#replaced === undefined ? layer.#layers : [layer],
    )
  }

  #layer(place: number): SlotLayer | ObjectView | undefined {
    while (place >= this.#layers.length && this.#rest !== undefined) {
      if (this.#isAdvancing) {
        // The next layer depends on itself. It is hidden, like all values being resolved.
        return this.#resolution.cut()
      }
      this.#isAdvancing = true
      try {
        const { value: fact } = this.#rest.next()
        const layer = fact?.value
        if (layer?.kind === 'slot' || layer?.kind === 'object') this.#layers.push(layer)
        else this.#rest = undefined
      } finally {
        this.#isAdvancing = false
      }
    }
    return this.#layers[place]
  }
}
