import type { Assignment, Scope, Slot } from './slot.js'
import type { Expression, Origin, Scalar } from './syntax-tree.js'

/** What a substitution is replaced by: known as far as its kind; what is within is found when it is asked for. */
export type Value = Scalar | ListValue | ObjectView

/** An element of a list, which vanishes where it is an optional substitution without a value. */
export interface Item {
  readonly source?: { readonly expression: Expression; readonly scope: Scope }
  /** Without a source: the value itself. */
  readonly value?: Value
}

/** A list whose elements may not be resolved yet. */
export class ListValue {
  readonly kind = 'list'
  readonly origin: Origin
  readonly secret: boolean
  readonly length: number
  /** May go on behind this list: those who append to the longest one share it. */
  readonly #items: Item[]

  constructor(items: Item[], origin: Origin, secret = false, length = items.length) {
    this.#items = items
    this.origin = origin
    this.secret = secret
    this.length = length
  }

  get items(): readonly Item[] {
    return this.length === this.#items.length ? this.#items : this.#items.slice(0, this.length)
  }

  /** This list and another; takes time by the length of the other where nobody did so before. */
  concat(other: ListValue): ListValue {
    const items = this.length === this.#items.length ? this.#items : this.#items.slice(0, this.length)
    // By number: the other one may be this one.
    for (let place = 0; place < other.length; place += 1) items.push(other.#items[place] ?? {})
    return new ListValue(items, this.origin, this.secret || other.secret)
  }

  asSecret(): ListValue {
    return new ListValue(this.#items, this.origin, true, this.length)
  }
}

/** The part of a slot's history that an object is made of: from one order on and before another. */
export interface SlotLayer {
  readonly kind: 'slot'
  readonly slot: Slot
  readonly from: number
  readonly to: number
  readonly origin: Origin
}

/** A value, or a part of an object, and the assignment it came by, if any. */
export interface Fact {
  readonly value: Value | SlotLayer
  readonly assignment?: Assignment | undefined
}

/** A resolved key: its value, and the assignment that decided. */
export interface Entry {
  readonly value: Value
  readonly assignment: Assignment | undefined
}

/** What a view asks of the resolver. */
export interface Resolution {
  /** How often something was hidden because it was being resolved: what was found meanwhile is not kept. */
  readonly cuts: number
  /** Another after each change of what is being resolved. */
  readonly epoch: number
  /** Counts something as hidden. */
  cut(): undefined
  /** Counts one step of work; throws a `ConfigLimitError` where it is one too many. */
  step(origin: Origin, count?: number): void
  /** Runs something one level deeper; throws a `ConfigLimitError` where that is too deep. */
  deeper<T>(origin: Origin, work: () => T): T
  /** The facts about a slot within a part of its history, the last one first. */
  facts(slot: Slot, from: number, to: number): Iterable<Fact>
}

/**
 * An object, merged from layers of which the first wins. Layers, and what is in them, are found when they are asked
 * for: a substitution can refer to one key of an object while another is being resolved.
 */
export class ObjectView {
  readonly kind = 'object'
  readonly origin: Origin
  readonly secret: boolean
  readonly #resolution: Resolution
  readonly #layers: (SlotLayer | ObjectView)[]
  #entries: Map<string, Entry | undefined> | undefined
  #rest: Iterator<Fact> | undefined
  /** What was found about keys, as long as nothing else is being resolved than then. */
  #checked: Map<string, { readonly epoch: number; readonly isPending: boolean }> | undefined
  /** Keys, and since when each is being evaluated. */
  #evaluating: Map<string, number> | undefined
  #collectingSince: number | undefined
  /** A key that has another value here than in the layers. */
  #replaced: { readonly key: string; readonly entry: Entry } | undefined
  #isAdvancing = false
  #keys: ReadonlySet<string> | undefined

  /** `rest`: the facts behind the first layers; the first that is no object ends them. */
  constructor(
    resolution: Resolution,
    layers: readonly (SlotLayer | ObjectView)[],
    rest?: Iterator<Fact>,
    secret = layers.some((layer) => layer.kind === 'object' && layer.secret),
  ) {
    this.#resolution = resolution
    this.#layers = [...layers]
    this.#rest = rest
    this.origin = layers[0]?.origin ?? { source: '', line: 0, column: 0 }
    this.secret = secret
  }

  get(key: string): Entry | undefined {
    if (this.#replaced?.key === key) return this.#replaced.entry
    const only = this.#onlyAssignment(key)
    if (only !== undefined) return only
    if (this.#entries?.has(key) && !this.#isPending(key)) return this.#entries.get(key)
    // A layer that has this very object for one of its own adds nothing to it.
    const { cuts, epoch } = this.#resolution
    this.#evaluating ??= new Map()
    const evaluating = this.#evaluating
    const outer = evaluating.get(key)
    if (outer === epoch) return this.#resolution.cut()
    evaluating.set(key, epoch)
    try {
      const entry = this.#evaluate(key)
      if (this.#resolution.cuts !== cuts) return entry
      this.#entries ??= new Map()
      this.#entries.set(key, entry)
      return entry
    } finally {
      if (outer === undefined) evaluating.delete(key)
      else evaluating.set(key, outer)
    }
  }

  /** Whether a part of what the key is made of is being resolved, and therefore hidden. */
  #isPending(key: string): boolean {
    const { epoch } = this.#resolution
    this.#checked ??= new Map()
    const checks = this.#checked
    const checked = checks.get(key)
    if (checked?.epoch === epoch) return checked.isPending
    // Until it is known: an object may have itself for a layer.
    checks.set(key, { epoch, isPending: false })
    const isPending = this.#layers.some((layer) =>
      layer.kind === 'object' ? layer.#isPending(key) : layer.slot.children.get(key)?.isPending === true,
    )
    checks.set(key, { epoch, isPending })
    return isPending
  }

  /** Has a key be evaluated anew. */
  forget(key: string): void {
    this.#entries?.delete(key)
    for (const layer of this.#layers) if (layer.kind === 'object') layer.forget(key)
  }

  /** Those of the lowest layer first. */
  keys(): ReadonlySet<string> {
    if (this.#keys !== undefined) return this.#keys
    const { cuts, epoch } = this.#resolution
    const outer = this.#collectingSince
    if (outer === epoch) {
      this.#resolution.cut()
      return new Set()
    }
    this.#collectingSince = epoch
    try {
      const keys = this.#collectKeys()
      if (this.#resolution.cuts === cuts) this.#keys = keys
      return keys
    } finally {
      this.#collectingSince = outer
    }
  }

  #collectKeys(): Set<string> {
    this.#resolution.step(this.origin, this.#allLayers().length)
    const keys = new Set<string>()
    for (const layer of [...this.#allLayers()].reverse()) {
      if (layer.kind === 'object')
        for (const key of this.#resolution.deeper(layer.origin, () => layer.keys())) keys.add(key)
      else for (const [key, child] of layer.slot.children) if (child.hasEventIn(layer.from, layer.to)) keys.add(key)
    }
    return keys
  }

  /** This object and another, which wins. */
  overriddenBy(other: ObjectView): ObjectView {
    // Side by side, not one within the other: a chain of merges is no deeper than its last link.
    const layers = [...new Set([...other.#flatLayers(), ...this.#flatLayers()])]
    this.#resolution.step(this.origin, layers.length)
    return new ObjectView(this.#resolution, layers, undefined, this.secret || other.secret)
  }

  /** The object that this one is nothing but another view of, or itself. */
  original(): ObjectView {
    const only = this.#replaced === undefined && this.#layer(1) === undefined ? this.#layer(0) : undefined
    return only?.kind === 'object' && only.secret === this.secret ? only.original() : this
  }

  /** This object with another value for one of its keys. */
  replacing(key: string, value: Value): ObjectView {
    const view = new ObjectView(this.#resolution, [this])
    view.#replaced = { key, entry: { value, assignment: undefined } }
    return view
  }

  asSecret(): ObjectView {
    return new ObjectView(this.#resolution, [this], undefined, true)
  }

  #evaluate(key: string): Entry | undefined {
    const facts = this.#facts(key)
    const first = facts.next()
    if (first.done) return undefined
    const { value, assignment } = first.value
    if (value.kind !== 'slot' && value.kind !== 'object') return { value, assignment }
    return { value: new ObjectView(this.#resolution, [value], facts), assignment }
  }

  /** A short way to what most keys are: assigned once, and not to an object. */
  #onlyAssignment(key: string): Entry | undefined {
    const [layer] = this.#layers
    if (this.#rest !== undefined || this.#layers.length !== 1 || layer?.kind !== 'slot') return undefined
    const events = layer.slot.children.get(key)?.events
    const event = events?.length === 1 ? events[0] : undefined
    if (event?.kind !== 'scalar' || event.order < layer.from || event.order >= layer.to) return undefined
    return { value: event.value, assignment: undefined }
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
        const child = layer.slot.children.get(key)
        if (child !== undefined) yield* this.#resolution.facts(child, layer.from, layer.to)
      }
    }
  }

  #allLayers(): readonly (SlotLayer | ObjectView)[] {
    while (this.#layer(this.#layers.length) !== undefined) {
      // Found by asking for it.
    }
    return this.#layers
  }

  /** With those of the layers that are objects in their place, where that hides no secret. */
  #flatLayers(): readonly (SlotLayer | ObjectView)[] {
    const layers = this.#replaced === undefined ? this.#allLayers() : [this]
    return layers.flatMap((layer) =>
      layer.kind === 'object' &&
      layer.secret === this.secret &&
      layer.#rest === undefined &&
      layer.#replaced === undefined
        ? layer.#layers
        : [layer],
    )
  }

  #advance(rest: Iterator<Fact>): Fact['value'] | undefined {
    this.#isAdvancing = true
    try {
      const next = rest.next()
      return next.done ? undefined : next.value.value
    } finally {
      this.#isAdvancing = false
    }
  }

  #layer(place: number): SlotLayer | ObjectView | undefined {
    while (place >= this.#layers.length && this.#rest !== undefined) {
      if (this.#isAdvancing) {
        // Asked for by what is needed to know it: hidden, as all that is being resolved.
        return this.#resolution.cut()
      }
      const value = this.#advance(this.#rest)
      if (value?.kind === 'slot' || value?.kind === 'object') this.#layers.push(value)
      else this.#rest = undefined
    }
    return this.#layers[place]
  }
}
