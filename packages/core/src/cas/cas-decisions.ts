import { GRANTED_AGAIN, largerOf } from '../store/fencing-token.js'
import { type Grant, isLocked, type LeaseRecord, type LeaseState, type Metadata } from '../store/lease-record.js'
import type { AcquireOutcome, AcquireRequest, RenewOutcome } from '../store/lease-store.js'
import { withoutBreakReason } from '../store/metadata.js'
import {
  type CasStanding,
  isWithoutHolder,
  previousOf,
  type RecordChanges,
  renewalsOf,
  rewrite,
  toGrant,
  toLeaseRecord,
} from './cas-records.js'
import type { CasRecord } from './cas-register.js'

// The decisions of a store over a register, without its input and output: from the record that was read to the next write.

/**
 * Decides on a claim by the record that was read: the refusal, or the changes that grant the name. Without a token in
 * them, the grant is a new one, and needs the next token.
 */
export function decideClaim(
  { name, owner, grantId, ttl, metadata: given }: AcquireRequest,
  record: CasRecord,
  standing: CasStanding,
): Extract<AcquireOutcome, { granted: false }> | { readonly changes: RecordChanges } {
  const isOurs = record.grantId === grantId && standing.state === 'leased'
  if (isLocked(standing) && !isOurs) return { granted: false, holder: toLeaseRecord(name, record, standing) }
  if (!isOurs) {
    const metadata = given ?? withoutBreakReason(record.metadata)
    return { changes: { owner, grantId, ttl, metadata, previous: previousOf(record), renewals: 0 } }
  }
  // A grant that is ours already (the answer of an earlier request was lost) is written again all the same: the
  // holder counts its validity from this request, and others have seen the record unchanged since the earlier one.
  const { fencingToken, previous } = record
  return { changes: { owner, grantId, ttl, metadata: given ?? record.metadata, previous, fencingToken } }
}

/** Decides on a renewal, with changes, by the record of the name: the refusal, or the record to write. */
export function decideRenewal(
  { name, grantId, fencingToken, ttl }: Grant,
  record: CasRecord | undefined,
  changes: RecordChanges = {},
): { readonly refusal: RenewOutcome } | { readonly write: CasRecord } {
  if (record === undefined) return { refusal: { renewed: false, reason: 'deleted' } }
  const refusal = refusalOf(name, grantId, record)
  if (refusal !== undefined) return { refusal }
  // A late duplicate of a claim can be granted again, under the same grant id: the earlier grant stays over.
  if (record.fencingToken > largerOf(fencingToken, changes.fencingToken ?? 0n)) return { refusal: GRANTED_AGAIN }
  // A record with our grant id, but not the version that we wrote last, is our own write, whose answer was lost.
  const count = renewalsOf(record)
  const renewals = count === undefined ? undefined : count + 1
  const token = largerOf(record.fencingToken, changes.fencingToken ?? 0n)
  return { write: rewrite(record, { ...changes, fencingToken: token, ttl, renewals }) }
}

/** The record that frees the name; `undefined` if the grant is not in force. The record stays: the token lives in it. */
export function decideRelease(
  { grantId, fencingToken }: Grant,
  record: CasRecord,
  metadata: Metadata | undefined,
): CasRecord | undefined {
  if (record.grantId !== grantId || record.owner === '') return undefined
  const isLate = record.fencingToken > fencingToken
  return rewrite(record, { owner: '', metadata: metadata === undefined || isLate ? record.metadata : metadata })
}

/** Why the grant is over, if it is. */
function refusalOf(name: string, grantId: string, record: CasRecord): RenewOutcome | undefined {
  if (record.grantId !== grantId) {
    if (record.owner === '') return { renewed: false, reason: 'taken' }
    return { renewed: false, reason: 'taken', holder: held(name, record, 'leased') }
  }
  if (record.breakPeriod !== undefined) return { renewed: false, reason: 'broken' }
  // The lock is still that of this grant: its holder can free it.
  if (isWithoutHolder(record)) return { renewed: false, reason: 'taken', holder: held(name, record, 'breaking') }
  return record.owner === '' ? { renewed: false, reason: 'expired' } : undefined
}

function held(name: string, record: CasRecord, state: LeaseState): LeaseRecord {
  return { ...toGrant(name, record), metadata: record.metadata, state }
}
