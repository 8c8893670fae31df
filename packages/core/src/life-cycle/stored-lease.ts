import type { Grant, LeaseRecord, LeaseState, Metadata } from '../store/lease-record.js'
import type { RenewRefusal } from '../store/lease-store.js'

/** The last grant of a name, as a store keeps it. It is never changed: each change replaces it. */
export interface StoredLease extends Omit<Grant, 'name'> {
  /** The state as it was written. Expiry writes nothing: `stateAt` returns the state at an instant. */
  readonly state: LeaseState
  /**
   * When the lock of a `leased` or `breaking` record ends, on the store's clock; `Infinity` for a lease that does not
   * expire, `-Infinity` in all other states.
   */
  readonly lockedUntil: number
  readonly metadata: Metadata
  /** The metadata that the holder found; `undefined` if it was the first holder. */
  readonly previous: Metadata | undefined
  /** See `LeaseRecord.grantedAt`. */
  readonly grantedAt?: number | undefined
  /** See `LeaseRecord.renewals`. */
  readonly renewals?: number | undefined
}

/** The state at the instant `now`. */
export function stateAt({ state, lockedUntil }: StoredLease, now: number): LeaseState {
  if (now < lockedUntil) return state
  if (state === 'leased') return 'expired'
  return state === 'breaking' ? 'broken' : state
}

/** Whether the name is locked at the instant `now`. */
export function isLockedAt({ lockedUntil }: StoredLease, now: number): boolean {
  return now < lockedUntil
}

/** The record as callers of a store see it at the instant `now`. */
export function toLeaseRecord(name: string, lease: StoredLease, now: number): LeaseRecord {
  const { owner, grantId, fencingToken, ttl, metadata, previous, lockedUntil, grantedAt, renewals } = lease
  const known = { ...(grantedAt === undefined ? {} : { grantedAt }), ...(renewals === undefined ? {} : { renewals }) }
  const shown = { name, owner, grantId, fencingToken, ttl, state: stateAt(lease, now), metadata, ...known }
  if (!isLockedAt(lease, now)) return shown
  return { ...shown, ...(previous === undefined ? {} : { previous }), remaining: lockedUntil - now }
}

/**
 * The reason why the grant with this id is not in force. A name that is `available` under the id was released, or was
 * written to after the expiry: the grant is over, and there is no later one.
 */
export function refusalOf(lease: StoredLease | undefined, grantId: string | undefined): RenewRefusal {
  if (lease === undefined) return 'deleted'
  if (lease.grantId !== grantId) return 'taken'
  return lease.state === 'breaking' || lease.state === 'broken' ? 'broken' : 'expired'
}
