import type { Lease } from './lease.js'

const methods = ['acquire', 'release', 'checkLease'] as const

/**
 * Whether a value is a `Lease`: an object with the methods `acquire`, `release` and `checkLease`. Its class does not
 * count, because two copies of this package in one process have two classes `Lease`.
 */
export function isLease(value: unknown): value is Lease {
  return missingMethods(value).length === 0
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
