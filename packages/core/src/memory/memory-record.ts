import type { Grant, LeaseRecord, LeaseState, Metadata } from '../store/lease-record.js'
import type { RenewRefusal } from '../store/lease-store.js'

/** What the store keeps for a name, changed in place: 100,000 of them are held at a time. */
export interface MemoryRecord {
  /** The last grant: one object shared with its holder, replaced by another and never changed. */
  grant: Grant
  /** As of the last look: {@link settle} brings it up to date. */
  state: LeaseState
  /** When `leased` or `breaking` ends by itself, on the store's clock; `Infinity` for a lease that does not expire. */
  lockedUntil: number
  metadata: Metadata
  /** What the holder found. */
  previous: Metadata | undefined
}

/** Lets the time pass for a record: no timer does so. */
export function settle(record: MemoryRecord, now: number): void {
  if (now < record.lockedUntil) return
  if (record.state === 'leased') record.state = 'expired'
  else if (record.state === 'breaking') record.state = 'broken'
}

/** Whether someone holds the name, as of the last look. */
export function isLocked(record: MemoryRecord): boolean {
  return record.state === 'leased' || record.state === 'breaking'
}

/** A copy of the record for callers, which does not change any more. */
export function recordAt(record: MemoryRecord, now: number): LeaseRecord {
  const { name, owner, grantId, fencingToken, ttl } = record.grant
  const { state, metadata, previous } = record
  const shown = { name, owner, grantId, fencingToken, ttl, state, metadata }
  if (!isLocked(record)) return shown
  return { ...shown, ...(previous === undefined ? {} : { previous }), remaining: record.lockedUntil - now }
}

/**
 * Why the grant with this id is not in force. A name that is `available` under the id has been released, or was
 * written to after the expiry: either way the grant is over and nobody else's came after it.
 */
export function endOf(record: MemoryRecord | undefined, grantId: string | undefined): RenewRefusal {
  if (record === undefined) return 'deleted'
  if (record.grant.grantId !== grantId) return 'taken'
  return record.state === 'breaking' || record.state === 'broken' ? 'broken' : 'expired'
}
