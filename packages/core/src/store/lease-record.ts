import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { parsedJSON } from './json-text.js'
import { faultOfMetadata, type Metadata } from './metadata.js'

export type { Metadata } from './metadata.js'

/** One successful acquisition, as the holder knows it. */
export interface Grant {
  /** The lease name. */
  readonly name: string
  readonly owner: string
  /** The GUID that the client proposed for this acquisition; every change of the record is conditional on it. */
  readonly grantId: string
  /** Larger for every later grant of the same name; the guarded resource compares it. */
  readonly fencingToken: bigint
  /** For how long the grant lasts from each confirmed request on, in milliseconds; `Infinity` where it never expires. */
  readonly ttl: number
}

/**
 * The life cycle of a record, as Azure's Lease Blob has it:
 * `leased` and `breaking` are locked, the others are free to acquire.
 */
export type LeaseState = 'leased' | 'expired' | 'breaking' | 'broken' | 'available'

/**
 * Whether the name of a record is locked: by a holder, or by a break whose period is not over. False where there is no
 * record. Use it instead of a comparison with `leased`: a name that is being broken is not free yet.
 */
export function isLocked<R extends Pick<LeaseRecord, 'state'>>(
  record: R | undefined,
): record is R & { readonly state: 'leased' | 'breaking' } {
  return record?.state === 'leased' || record?.state === 'breaking'
}

export type LeaseDuration = 'fixed' | 'infinite'

/**
 * The record that a store keeps for a name: the last grant, and where it stands in its life cycle. `owner` and `grantId`
 * are empty if the name is locked and the store does not know the holder.
 */
export interface LeaseRecord extends Omit<Grant, 'ttl'> {
  /** As in `Grant`; absent if the name is locked and the store does not know the ttl of the holder. */
  readonly ttl?: number
  readonly state: LeaseState
  /** The metadata of the holder; after the end of the grant, as the last holder left it. */
  readonly metadata: Metadata
  /** While the name is locked: the metadata that the holder found, where the store keeps it. */
  readonly previous?: Metadata
  /**
   * Milliseconds until the lock can end by itself, if the store knows: for a `leased` record the time left of the ttl, for
   * a `breaking` record the time left of the break period. `Infinity` for a lease that does not expire.
   */
  readonly remaining?: number
  /**
   * While the name is locked: whether the lease expires unless it is renewed (`fixed`), or not at all (`infinite`). Absent
   * where the store does not know.
   */
  readonly duration?: LeaseDuration
  /**
   * When the lock can end by itself, in milliseconds since 1970 by the wall clock of the machine that read the record: the
   * instant at which the read was sent plus `remaining`, never a time that another machine wrote. Present in results of
   * `readLease`, `listLeases`, `watchLease` and `lease.holder()`, while the name is locked and the store knows `remaining`;
   * `Infinity` for a lease that does not expire. An estimate for display: each heartbeat moves it on, a release or a break
   * ends the lock earlier, a step of the wall clock makes it wrong, and a record of a listing may have waited in its page.
   * Decide nothing by it: use `acquire({ wait })`, or `checkLease()` of your own lease.
   */
  readonly expiresAt?: number
  /**
   * When the store made this grant, in milliseconds since 1970 by the clock of the store; absent where the store does not
   * know. For display only: never compare it with the clock of this machine, and decide nothing by it. A renewal does not
   * change it, and the next grant has its own.
   */
  readonly grantedAt?: number
  /**
   * How often the store renewed this grant; absent where the store does not count. The next grant begins with 0. An update
   * of the metadata renews the grant, so it counts too, and so does a renewal whose answer was lost.
   */
  readonly renewals?: number
  /**
   * How many wait in the queue of the name, where the store knows it; a waiter whose process ended is counted until its
   * place ends. In answers to `read` and `list` only, not in the `holder` of a refusal. For display: it may be old at once.
   */
  readonly waiters?: number
}

/** Grants as JSON: tokens are texts of digits, and a ttl without an end is `infinite`. */
export const Grant = {
  /** The value that `JSON.stringify` writes; for grants of a store, which have no `toJSON` of their own. */
  toJSON: (grant: Grant): Record<string, unknown> => toPlainJSON(grant),
  /** The grant again, from the text or from its parsed value. Throws a `LeaseConfigurationError` if it is not valid. */
  fromJSON: (json: unknown): Grant => withJSON(grantFrom(parsed(json), notJSONOf('grant'))),
}

/** Records as JSON: tokens are texts of digits, and a duration without an end is `infinite`. */
export const LeaseRecord = {
  /** The value that `JSON.stringify` writes; for records of a store, which have no `toJSON` of their own. */
  toJSON: (record: LeaseRecord): Record<string, unknown> => toPlainJSON(record),
  /** The record again, from the text or from its parsed value. Throws a `LeaseConfigurationError` if it is not valid. */
  fromJSON: (json: unknown): LeaseRecord => recordFromJSON(json),
}

export const leaseStates: readonly unknown[] = [
  'leased',
  'expired',
  'breaking',
  'broken',
  'available',
] satisfies LeaseState[]

/** Whether a value is a state of a record: a store that somebody else wrote may answer with anything. */
export function isLeaseState(value: unknown): value is LeaseState {
  return leaseStates.includes(value)
}

const durations: readonly unknown[] = ['fixed', 'infinite'] satisfies LeaseDuration[]

/** The same fields as values of JSON, which has neither bigint nor `Infinity`. */
export function toPlainJSON(fields: object): Record<string, unknown> {
  const plain = Object.entries(fields).map(([field, value]) => {
    if (typeof value === 'bigint') return [field, String(value)]
    return [field, value === Number.POSITIVE_INFINITY ? 'infinite' : value]
  })
  return Object.fromEntries(plain)
}

/** A copy that `JSON.stringify` accepts. The method is not enumerable, so that it is no part of the record. */
export function withJSON<T extends object>(fields: T): T {
  return Object.defineProperty({ ...fields }, 'toJSON', { value: () => toPlainJSON(fields) })
}

/** The grant with these fields. Throws a `LeaseConfigurationError` with this message if they are not valid. */
export function grantFrom(fields: unknown, message: string): Grant {
  // A null or a primitive has no fields.
  const { name, owner, grantId, fencingToken, ttl } = Object(fields) as Record<string, unknown>
  const duration = durationFrom(ttl)
  const isToken = typeof fencingToken === 'string' && /^\d+$/.test(fencingToken)
  if (!isToken || !isText(name) || !isText(owner) || !isText(grantId) || duration === undefined || duration <= 0) {
    throw new LeaseConfigurationError(message)
  }
  return { name, owner, grantId, fencingToken: BigInt(fencingToken), ttl: duration }
}

/** A record from what `JSON.stringify` made of it. */
function recordFromJSON(json: unknown): LeaseRecord {
  const fields = Object(parsed(json)) as Record<string, unknown>
  const { state, metadata, previous, remaining, duration, expiresAt, grantedAt, renewals, waiters } = fields
  // A record has no ttl if the store does not know the one of the holder.
  const { ttl, ...grant } = grantFrom({ ttl: 'infinite', ...fields }, notJSONOf('record'))
  const left = remaining === undefined ? undefined : durationFrom(remaining)
  const ending = expiresAt === undefined ? undefined : durationFrom(expiresAt)
  const isValid =
    isLeaseState(state) &&
    faultOfMetadata(metadata) === undefined &&
    (previous === undefined || faultOfMetadata(previous) === undefined) &&
    (remaining === undefined || left !== undefined) &&
    (duration === undefined || durations.includes(duration)) &&
    (expiresAt === undefined || ending !== undefined) &&
    (grantedAt === undefined || Number.isFinite(grantedAt)) &&
    (renewals === undefined || isCount(renewals)) &&
    (waiters === undefined || isCount(waiters))
  if (!isValid) throw new LeaseConfigurationError(notJSONOf('record'))
  return withJSON({
    ...(fields as unknown as LeaseRecord),
    ...grant,
    ...(fields.ttl === undefined ? {} : { ttl }),
    ...(left === undefined ? {} : { remaining: left }),
    ...(ending === undefined ? {} : { expiresAt: ending }),
  })
}

function notJSONOf(what: string): string {
  return `this is not the JSON of a ${what}: pass the text that JSON.stringify returned for one, or the value of that text`
}

function parsed(json: unknown): unknown {
  return typeof json === 'string' ? parsedJSON(json) : json
}

/** Milliseconds, or `infinite`; `undefined` if it is neither. */
function durationFrom(value: unknown): number | undefined {
  if (value === 'infinite') return Number.POSITIVE_INFINITY
  return typeof value === 'number' && value >= 0 ? value : undefined
}

/** Whether a value is a valid count. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
