import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import {
  type Grant,
  isCount,
  isLocked,
  type LeaseRecord,
  type LeaseState,
  type Metadata,
} from '../store/lease-record.js'
import { faultOfMetadata } from '../store/metadata.js'
import { VALIDITY_MARGIN } from '../time/validity.js'
import type { CasRecord } from './cas-register.js'

/** The standing of a record, as far as this process has seen it. */
export interface CasStanding {
  readonly state: LeaseState
  /** Milliseconds for which the record has still to be seen unchanged until the name is free. */
  readonly remaining: number
}

/** For how long a record was certainly as it is, in milliseconds: seen by this process, or by the store's clock. */
export interface Seeing {
  readonly unchanged: number
  /** For how long it was seen without the holder of the `displaced` grant; 0 if there is no such grant. */
  readonly displaced: number
}

/**
 * The standing of a record, by how long it was seen. `longest` caps recorded durations: no holder has settings beyond it,
 * and one absurd write must not lock a name for ever.
 */
export function standingOf(record: CasRecord, seen: Seeing, longest: number): CasStanding {
  const { displaced } = record
  const isVacated = isWithoutHolder(record)
  if (record.owner === '' && displaced === undefined) return { state: 'available', remaining: 0 }
  const broken = record.breakPeriod !== undefined
  const period = capped(record.breakPeriod ?? record.ttl, longest, broken ? 0 : Number.MIN_VALUE)
  const own = isVacated ? 0 : lockedFor(period, seen.unchanged)
  const others = displaced === undefined ? 0 : lockedFor(capped(displaced.ttl, longest, 0), seen.displaced)
  const remaining = Math.max(own, others)
  if (remaining <= 0) return { state: broken ? 'broken' : 'expired', remaining: 0 }
  return { state: broken || isVacated ? 'breaking' : 'leased', remaining }
}

/** For how long the name is still locked. The margin covers a clock that counts too much of a suspend; 0 needs none. */
function lockedFor(period: number, seen: number): number {
  return period === 0 ? 0 : period + VALIDITY_MARGIN - seen
}

/** Whether another program removed the owner of the last grant. */
export function isWithoutHolder({ grantId, displaced }: CasRecord): boolean {
  return displaced?.grantId === grantId
}

/** A recorded duration within its bounds; an invalid one, such as NaN, counts as the longest. */
function capped(duration: number, longest: number, least: number): number {
  return isWithin(duration, longest, least) ? duration : longest
}

function isWithin(duration: number, longest: number, least: number): boolean {
  return duration >= least && duration <= longest
}

/** The recorded ttl that is out of bounds, if there is one: that of the last grant, or that of the grant that was displaced. */
export function invalidTtl({ ttl, displaced }: CasRecord, longest: number): number | undefined {
  if (!isWithin(ttl, longest, Number.MIN_VALUE)) return ttl
  return displaced === undefined || isWithin(displaced.ttl, longest, 0) ? undefined : displaced.ttl
}

export function toLeaseRecord(name: string, record: CasRecord, standing: CasStanding): LeaseRecord {
  const { owner, grantId, fencingToken, ttl, metadata, previous } = record
  const renewals = renewalsOf(record)
  const counted = renewals === undefined ? {} : { renewals }
  const shown = { name, owner, grantId, fencingToken, ttl, metadata, state: standing.state, ...counted }
  if (!isLocked(standing)) return shown
  return { ...shown, ...(previous === undefined ? {} : { previous }), remaining: standing.remaining }
}

export function toGrant(name: string, { owner, grantId, fencingToken, ttl }: CasRecord): Grant {
  return { name, owner, grantId, fencingToken, ttl }
}

/** How often the last grant was renewed; `undefined` if the last writer did not count, or the entry is not valid. */
export function renewalsOf({ renewals, revision }: CasRecord): number | undefined {
  return renewals?.revision === revision && isCount(renewals.count) ? renewals.count : undefined
}

/** `undefined` leaves `previous` and `renewals` as they are. */
export interface RecordChanges extends Partial<Omit<CasRecord, 'previous' | 'renewals'>> {
  readonly previous?: Metadata | undefined
  readonly renewals?: number | undefined
}

/** The next write of a record: the next revision, with changes. */
export function rewrite(
  record: CasRecord,
  { previous = record.previous, renewals = renewalsOf(record), ...changes }: RecordChanges = {},
): CasRecord {
  const { breakPeriod: _, displaced: __, previous: ___, renewals: ____, ...kept } = record
  const revision = record.revision + 1
  const counted = renewals === undefined ? {} : { renewals: { count: renewals, revision } }
  const next = { ...kept, ...changes, revision, ...counted }
  // A free name needs only what its last holder left.
  return previous === undefined || next.owner === '' ? next : { ...next, previous }
}

/** The metadata that the last holder left; `undefined` where the name was never granted. */
export function previousOf({ grantId, metadata }: CasRecord): Metadata | undefined {
  return grantId === '' ? undefined : metadata
}

/**
 * The record without invalid metadata, which another program may have written: it would make every answer about the name
 * invalid, and each write would carry it on.
 */
export function withoutFaults(record: CasRecord): CasRecord {
  const { metadata, previous, ...others } = record
  const isValid = faultOfMetadata(metadata) === undefined
  const isLeftValid = previous === undefined || faultOfMetadata(previous) === undefined
  if (isValid && isLeftValid) return record
  return { ...others, metadata: isValid ? metadata : {}, ...(previous && isLeftValid && { previous }) }
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
 * Throws a `LeaseConfigurationError` unless this is a lease record: an entry of another program under the name is not a
 * free lease, and must not be overwritten.
 */
export function checkRecord(name: string, store: string, found: CasRecord): void {
  const record: Partial<CasRecord> = found ?? {}
  const { owner, grantId, fencingToken, ttl, revision, metadata, previous, breakPeriod, displaced } = record
  const isRecord =
    typeof owner === 'string' &&
    typeof grantId === 'string' &&
    typeof fencingToken === 'bigint' &&
    typeof ttl === 'number' &&
    Number.isSafeInteger(revision) &&
    typeof metadata === 'object' &&
    metadata !== null &&
    (previous === undefined || (typeof previous === 'object' && previous !== null)) &&
    (breakPeriod === undefined || typeof breakPeriod === 'number') &&
    (displaced === undefined || (typeof displaced?.grantId === 'string' && typeof displaced.ttl === 'number'))
  if (isRecord) return
  throw new LeaseConfigurationError(
    `the entry of '${name}' in the ${store} store is no lease record: choose another name, or remove the entry`,
    { leaseName: name, store },
  )
}
