import { detailsOf } from './engine/failures.js'
import type { LeaseRules } from './engine/lease-rules.js'
import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import { LeaseConflictError } from './errors/lease-conflict-error.js'
import type { LeaseErrorDetails } from './errors/lease-error.js'
import { type Grant, grantFrom, toPlainJSON } from './store/lease-record.js'
import type { LeaseStore } from './store/lease-store.js'

/**
 * A lease on its way from one owner to another: made by `handOff`, taken once by `adopt`. Plain JSON, so that it can
 * be sent to another process: `JSON.stringify(handOff)`, and there `lease.adopt(JSON.parse(text))`.
 */
export interface HandOff {
  readonly name: string
  /** The owner that may adopt it. */
  readonly owner: string
  readonly grantId: string
  /** A bigint in decimal digits. */
  readonly fencingToken: string
  /** Milliseconds, or `infinite`: JSON has no `Infinity`. */
  readonly ttl: number | 'infinite'
}

export function toHandOff({ name, owner, grantId, fencingToken, ttl }: Grant): HandOff {
  return toPlainJSON({ name, owner, grantId, fencingToken, ttl }) as unknown as HandOff
}

/** The grant behind a hand-off, which may come from another process. Throws a `LeaseConfigurationError` if it is not valid. */
export function fromHandOff(handOff: HandOff): Grant {
  return grantFrom(handOff, 'this is not a hand-off: pass the value that handOff() resolved with, unchanged')
}

/** Throws a `LeaseConfigurationError` if the store cannot pass leases on. */
export function checkCanChange({ change }: LeaseStore, details: LeaseErrorDetails): void {
  if (change !== undefined) return
  throw new LeaseConfigurationError(`the ${details.store} store cannot hand leases over`, details)
}

/** Throws a `LeaseConfigurationError` if a hand-off is not for this lease, a `LeaseConflictError` if it is not idle. */
export function checkAdoptable(grant: Grant, rules: LeaseRules, state: string): void {
  const mismatch = mismatchOf(grant, rules)
  if (mismatch !== undefined) throw new LeaseConfigurationError(`this hand-off ${mismatch}`, detailsOf(rules))
  if (state === 'idle') return
  throw new LeaseConflictError(`lease '${rules.name}' is ${state}: adopt needs an idle one`, detailsOf(rules))
}

function mismatchOf(grant: Grant, lease: LeaseRules): string | undefined {
  if (grant.name !== lease.name) return `is of lease '${grant.name}', not of '${lease.name}'`
  if (grant.owner === lease.owner) return undefined
  return `is meant for owner '${grant.owner}', not for '${lease.owner}'`
}
