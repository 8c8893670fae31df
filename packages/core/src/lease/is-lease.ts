import type { LeaseStore } from '../store/lease-store.js'
import type { Lease } from './lease.js'

const methods = ['acquire', 'release', 'checkLease'] as const

/**
 * Whether a value is a `Lease`: an object with the methods `acquire`, `release` and `checkLease`. Its class does not
 * count, because two copies of this package in one process have two classes `Lease`.
 */
export function isLease(value: unknown): value is Lease {
  return missingMethods(value).length === 0
}

/** The mark of the class `StoreLease`, in the global registry, so that all copies of this package share it. */
export const storeLeaseMark = Symbol.for('@leasehold/core/StoreLease')

/** A `StoreLease` of any copy of this package. */
export interface LeaseOverStore extends Lease {
  readonly store: LeaseStore
  close(): Promise<void>
}

/** Whether a lease is a `StoreLease`, or one of a subclass, of any copy of this package. */
export function isStoreLease(lease: Lease): lease is LeaseOverStore {
  return storeLeaseMark in lease
}

/** Whether a lease is a `StoreLease` and none of a subclass, which may do more than its engine does. */
export function isPlainStoreLease(lease: Lease): lease is LeaseOverStore {
  return Object.hasOwn(Object.getPrototypeOf(lease), storeLeaseMark)
}

/** The methods of a `Lease` that a value does not have. */
export function missingMethods(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return methods
  try {
    return methods.filter((method) => typeof (value as Partial<Lease>)[method] !== 'function')
  } catch {
    // A getter or a proxy that throws.
    return methods
  }
}
