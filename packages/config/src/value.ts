import type { ObjectView } from './object-view.js'
import type { Origin } from './origin.js'
import type { Scope } from './slot.js'
import type { Expression, Scalar } from './syntax-tree.js'

/** What a substitution is replaced by: known as far as its kind; what is within is found when it is asked for. */
export type Value = Scalar | ListValue | ObjectView

/** An element of a list, which vanishes where it is an optional substitution without a value. */
export interface Item {
  readonly source?: { readonly expression: Expression; readonly scope: Scope }
  /** Set once it was resolved. */
  resolved?: { readonly value: Value | undefined } | undefined
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
