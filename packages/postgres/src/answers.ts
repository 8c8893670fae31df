import type { Grant, LeaseRecord, LeaseState, Metadata } from '@leasehold/core'
import { withBreakReason } from '@leasehold/core/sql-kit'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome, RenewRefusal } from '@leasehold/core/store'
import { GRANTED_AGAIN } from '@leasehold/core/store-kit'
import { fromColumn } from './sql-text.js'

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })
const RELEASED: ReleaseOutcome = Object.freeze({ released: true })

/** A record as `leases_record_1` writes it. */
export type RecordAnswer = readonly [
  state: LeaseState,
  grantId: string,
  owner: string,
  fencingToken: string,
  /** Milliseconds; `null` without an expiry. */
  ttl: number | null,
  /** Milliseconds; `null` if the name is free, -1 without an expiry. */
  remaining: number | null,
  metadata: Metadata,
  reason: string | null,
  previous: Metadata | null,
  previousReason: string | null,
  grantedAt: number,
  renewals: number,
  name: string,
]

/** The answer of `leases_read_1`, and an item of that of `leases_list_1`. */
export type ReadAnswer = readonly [record: RecordAnswer, waiters: number]

/** The answer of `leases_acquire_1` and `leases_change_1`. */
export type GrantAnswer =
  | readonly ['granted', fencingToken: string, ttl: number | null, previous: Metadata | null, reason: string | null]
  | readonly ['refused', isFirst: boolean, holder: RecordAnswer | null]
  /** The name is free, but a transaction has locked its row. */
  | readonly ['busy', isFirst?: boolean, last?: RecordAnswer | null]

/** The answer of `leases_update_2` and `leases_raise_2`, and that for each exception of `leases_renew_2`. */
export type RenewAnswer =
  | readonly ['renewed']
  | readonly ['ended', reason: RenewRefusal, holder?: RecordAnswer | null]
  /** The record is that of a later grant with the same id. */
  | readonly ['later']
  /** Another transaction has locked the row: the outcome is unknown. */
  | readonly ['locked']

export type ReleaseAnswer = readonly ['released'] | readonly ['unreleased', holder: RecordAnswer | null]

/** A grant that has no fencing token yet. */
export type Claim = Pick<Grant, 'name' | 'owner' | 'grantId'>

function recordOf(answer: RecordAnswer): LeaseRecord {
  const [
    state,
    grantId,
    owner,
    token,
    ttl,
    left,
    metadata,
    reason,
    previous,
    previousReason,
    grantedAt,
    renewals,
    name,
  ] = answer
  return {
    name: fromColumn(name),
    owner: fromColumn(owner),
    grantId: fromColumn(grantId),
    fencingToken: BigInt(token),
    ttl: ttl ?? Number.POSITIVE_INFINITY,
    state,
    metadata: metadataOf(metadata, reason),
    ...previousOf(previous, previousReason),
    ...(left === null ? {} : { remaining: left < 0 ? Number.POSITIVE_INFINITY : left }),
    grantedAt,
    renewals,
  }
}

export function readRecordOf([record, waiters]: ReadAnswer): LeaseRecord {
  return { ...recordOf(record), waiters }
}

export function grantOutcome(answer: GrantAnswer, claim: Claim): AcquireOutcome {
  if (answer[0] === 'granted') {
    const [, token, ttl, previous, reason] = answer
    const { name, owner, grantId } = claim
    const grant = { name, owner, grantId, fencingToken: BigInt(token), ttl: ttl ?? Number.POSITIVE_INFINITY }
    return { granted: true, grant, ...previousOf(previous, reason) }
  }
  if (answer[0] === 'refused') return { granted: false, ...holderOf(answer[2]) }
  const { holder } = holderOf(answer[2])
  // An open transaction of the last holder still keeps the name from others.
  return holder === undefined ? { granted: false } : { granted: false, holder: { ...holder, state: 'leased' } }
}

/** `undefined` if it is unknown. */
export function renewOutcome(answer: RenewAnswer | undefined): RenewOutcome | undefined {
  if (answer === undefined || answer[0] === 'renewed') return RENEWED
  if (answer[0] === 'later') return GRANTED_AGAIN
  return answer[0] === 'locked' ? undefined : { renewed: false, reason: answer[1], ...holderOf(answer[2]) }
}

export function releaseOutcome(answer: ReleaseAnswer): ReleaseOutcome {
  return answer[0] === 'released' ? RELEASED : { released: false, ...holderOf(answer[1]) }
}

function holderOf(answer: RecordAnswer | null | undefined): { holder?: LeaseRecord } {
  return answer === null || answer === undefined ? {} : { holder: recordOf(answer) }
}

function metadataOf(metadata: Metadata, reason: string | null): Metadata {
  return withBreakReason(metadata, reason && fromColumn(reason))
}

function previousOf(previous: Metadata | null, reason: string | null): { previous?: Metadata } {
  return previous === null ? {} : { previous: metadataOf(previous, reason) }
}
