import type { LeaseMessage } from '@leasehold/core/channels'
import type { Attributes } from '@opentelemetry/api'
import type { GroupNames } from './group-names.js'

/** What the leases of one store and one group have in common: their attributes, and their numbers now. */
export class LeaseSeries {
  readonly attributes: Attributes
  readonly group: string | undefined
  waiting = 0
  /** The number of held leases, by their recipe. */
  readonly held = new Map<string | undefined, number>()

  readonly #variants = new Map<string, Attributes>()

  constructor(store: string | undefined, group: string | undefined) {
    this.group = group
    this.attributes = defined({ store, 'lease.group': group })
  }

  /** The attributes with one more, whose values are few: the same object each time. */
  with(attribute: string, value: string): Attributes {
    const key = `${attribute} ${value}`
    let variant = this.#variants.get(key)
    if (variant === undefined) {
      variant = { ...this.attributes, [attribute]: value }
      this.#variants.set(key, variant)
    }
    return variant
  }

  count(recipe: string | undefined, change: 1 | -1): void {
    this.held.set(recipe, (this.held.get(recipe) ?? 0) + change)
  }
}

/** What decides on the series of a lease. */
type SeriesKey = Pick<LeaseMessage, 'lease'> & {
  readonly leaseName?: string | undefined
  readonly store?: string | undefined
}

/** The series of all leases that were seen: few, because there are few groups. */
export class AllLeaseSeries {
  readonly #groups: GroupNames
  readonly #ofLeases = new WeakMap<object, LeaseSeries>()
  readonly #known = new Map<string, LeaseSeries>()

  constructor(groups: GroupNames) {
    this.#groups = groups
  }

  of({ lease, leaseName = '', store }: SeriesKey): LeaseSeries {
    let series = this.#ofLeases.get(lease)
    if (series !== undefined) return series
    const group = this.#groups.of(leaseName)
    const key = JSON.stringify([store, group])
    series = this.#known.get(key) ?? new LeaseSeries(store, group)
    this.#known.set(key, series)
    this.#ofLeases.set(lease, series)
    return series
  }

  [Symbol.iterator](): Iterator<LeaseSeries> {
    return this.#known.values()
  }
}

/** The attributes that have a value. */
function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}

/** The attribute that names the kind of an error, and none where there is no error. */
export function errorType(error: unknown): Attributes {
  if (error === undefined) return {}
  return { 'error.type': error instanceof Error && error.name !== '' ? error.name : '_OTHER' }
}

/** The attributes of an operation, and those of its error if it has failed. */
export function withError(attributes: Attributes, error: unknown): Attributes {
  return error === undefined ? attributes : { ...attributes, ...errorType(error) }
}
