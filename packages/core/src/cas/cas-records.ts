import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { Grant, LeaseRecord, LeaseState } from '../store/lease-record.js'
import { VALIDITY_MARGIN } from '../validity.js'
import type { CasRecord } from './cas-register.js'

/** Where a record stands, as far as this process has seen it. */
export interface CasStanding {
  readonly state: LeaseState
  /** Milliseconds for which the record has still to be seen unchanged until the name is free. */
  readonly remaining: number
}

/**
 * Where a record stands that has been seen unchanged for `unchanged` milliseconds. `longest` caps what is recorded: no
 * holder has settings beyond it, and one absurd write must not lock a name for ever.
 */
export function standingOf(record: CasRecord, unchanged: number, longest: number): CasStanding {
  if (record.owner === '') return { state: 'available', remaining: 0 }
  const broken = record.breakPeriod !== undefined
  const period = capped(record.breakPeriod ?? record.ttl, longest, broken ? 0 : Number.MIN_VALUE)
  // The margin is for what a clock may count too much of a suspend; a period of nothing needs none.
  const remaining = period === 0 ? 0 : period + VALIDITY_MARGIN - unchanged
  if (remaining <= 0) return { state: broken ? 'broken' : 'expired', remaining: 0 }
  return { state: broken || record.vacated === true ? 'breaking' : 'leased', remaining }
}

/** A recorded duration within its bounds; what is none, such as NaN, counts as the longest. */
function capped(duration: number, longest: number, least: number): number {
  return duration >= least && duration <= longest ? duration : longest
}

export function isLocked({ state }: CasStanding): boolean {
  return state === 'leased' || state === 'breaking'
}

export function toLeaseRecord(name: string, record: CasRecord, standing: CasStanding): LeaseRecord {
  const { owner, grantId, fencingToken, ttl, metadata } = record
  const told = { name, owner, grantId, fencingToken, ttl, metadata, state: standing.state }
  return isLocked(standing) ? { ...told, remaining: standing.remaining } : told
}

export function toGrant(name: string, { owner, grantId, fencingToken, ttl }: CasRecord): Grant {
  return { name, owner, grantId, fencingToken, ttl }
}

/** The next write of a record: another revision, and what is to be changed beside it. */
export function rewrite(record: CasRecord, changes: Partial<CasRecord> = {}): CasRecord {
  const { breakPeriod: _, vacated: __, ...kept } = record
  return { ...kept, ...changes, revision: record.revision + 1 }
}

/** The record of a name that was never granted. */
export const unowned: CasRecord = Object.freeze({
  owner: '',
  grantId: '',
  fencingToken: 0n,
  ttl: 1,
  revision: 0,
  metadata: Object.freeze({}),
})

/**
 * Throws a `LeaseConfigurationError` unless this is a lease record: what another program keeps under the name must
 * neither be taken for a free lease nor be written over.
 */
export function checkRecord(name: string, store: string, found: CasRecord): void {
  const record: Partial<CasRecord> = found ?? {}
  const { owner, grantId, fencingToken, ttl, revision, metadata, breakPeriod, vacated } = record
  const isRecord =
    typeof owner === 'string' &&
    typeof grantId === 'string' &&
    typeof fencingToken === 'bigint' &&
    typeof ttl === 'number' &&
    Number.isSafeInteger(revision) &&
    typeof metadata === 'object' &&
    metadata !== null &&
    (breakPeriod === undefined || typeof breakPeriod === 'number') &&
    (vacated === undefined || typeof vacated === 'boolean')
  if (isRecord) return
  throw new LeaseConfigurationError(
    `what the ${store} store has under '${name}' is no lease record: choose another name, or remove the entry`,
    { leaseName: name, store },
  )
}
