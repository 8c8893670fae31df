import type { LeaseRecord, LeaseState } from '@leasehold/core'

/** A record as it is in the database: JSON, so without `Infinity` and `bigint`. */
export interface StoredRecord {
  readonly owner: string
  readonly grantId: string
  readonly fencingToken: string
  /** `null`: does not expire. */
  readonly ttl: number | null
  /** Never `expired`: that is for the reader to see. */
  readonly state: LeaseState
  /** When the ttl, or the break period, ends: milliseconds since boot. `null`: never. */
  readonly endsAt: number | null
  readonly metadata: Readonly<Record<string, string>>
  /** Someone may watch without a place in the queue: the process that frees the name rings. */
  readonly watched: boolean
}

/** The state at the instant `now`: what ran out is expired, or broken. */
export function stateAt(record: StoredRecord, now: number): LeaseState {
  if (record.endsAt === null || now < record.endsAt) return record.state
  if (record.state === 'leased') return 'expired'
  return record.state === 'breaking' ? 'broken' : record.state
}

export function isLocked(state: LeaseState): boolean {
  return state === 'leased' || state === 'breaking'
}

/** Milliseconds until the lock ends by itself; 0 where there is none. */
export function remainingOf(record: StoredRecord, now: number): number {
  if (!isLocked(stateAt(record, now))) return 0
  return record.endsAt === null ? Number.POSITIVE_INFINITY : record.endsAt - now
}

export function toLeaseRecord(name: string, record: StoredRecord, now: number): LeaseRecord {
  const state = stateAt(record, now)
  const { owner, grantId } = record
  // The caller may change what it gets.
  const metadata = { ...record.metadata }
  const ttl = record.ttl ?? Number.POSITIVE_INFINITY
  const told = { name, owner, grantId, fencingToken: BigInt(record.fencingToken), ttl, state, metadata }
  return isLocked(state) ? { ...told, remaining: remainingOf(record, now) } : told
}
