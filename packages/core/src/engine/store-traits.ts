import type { LeaseStore } from '../store/lease-store.js'

/** What the rules of a lease take from its store. Read once: a store may compute it. */
export interface StoreTraits {
  readonly kind: string
  /** Whether the store wakes waiters, so that polling is only the safety net. */
  readonly watched: boolean
  /** Whether the store keeps waiters in a queue. */
  readonly ordered: boolean
  /** Whether the store counts the time left of a record only from when this process saw it. */
  readonly observed: boolean
}

export function traitsOf({ kind = 'custom', watch, limits }: LeaseStore): StoreTraits {
  return { kind, watched: watch !== undefined, ordered: limits.ordered, observed: limits.observed === true }
}
