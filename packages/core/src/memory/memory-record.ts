import type { Grant, LeaseRecord, LeaseState } from '../store/lease-record.js'
import type { RenewRefusal } from '../store/lease-store.js'

/** What the store keeps for a name, changed in place: 100,000 of them are held at a time. */
export interface MemoryRecord {
  /** The last grant: one object shared with its holder, replaced by another and never changed. */
  grant: Grant
  /** As of the last look: {@link settle} brings it up to date. */
  state: LeaseState
  /** When `leased` or `breaking` ends by itself, on the store's clock; `Infinity` for a lease that does not expire. */
  lockedUntil: number
  metadata: Readonly<Record<string, string>>
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

/** The record as it is told: one that does not change any more. */
export function recordAt(record: MemoryRecord, now: number): LeaseRecord {
  const { name, owner, grantId, fencingToken, ttl } = record.grant
  const { state, metadata } = record
  const told = { name, owner, grantId, fencingToken, ttl, state, metadata }
  return isLocked(record) ? { ...told, remaining: record.lockedUntil - now } : told
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
