import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from './errors/lease-error.js'
import { faultOfGuid, isGuid } from './guid.js'
import type { LeaseLost } from './lease-lost.js'
import { faultOfMetadata, roomOf } from './metadata.js'
import { faultOfNames, type OptionNames } from './option-names.js'
import { shownValue } from './shown-value.js'
import type { StoreLimits } from './store/lease-store.js'

export interface AcquireOptions {
  /**
   * Called exactly once for the grant that this call obtains, or finds held, when it ends without a release; never
   * before `acquire` has resolved, never after a release was asked for. An error that it throws is reported and has no other effect.
   */
  readonly onLost?: (lost: LeaseLost) => void
  /**
   * For how long to wait for the turn while someone else holds the name, in milliseconds. 0, the default: try once.
   * `Infinity`: until granted. An attempt that is under way when the time is up is still given its time limit.
   */
  readonly wait?: number
  /** Cancels the attempt, which then rejects with the signal's reason; never a lease that is already held. */
  readonly signal?: AbortSignal
  /**
   * Replaces the metadata in the record, for readers and for the next holder (`previous`). Unless given, the metadata stays
   * as the last holder left it. At most 4,096 bytes unless the store says otherwise.
   */
  readonly metadata?: Readonly<Record<string, string>>
  /**
   * The version that the resource must still have, such as the ETag of a blob at the last release. If it has another one,
   * `acquire` rejects with a `LeaseConflictError`. Only for stores whose limits have `versions`. Not checked while this
   * object holds the lease already; concurrent calls share the version of the first.
   */
  readonly ifMatch?: string
  /**
   * The id of the grant, a GUID; a new one unless given. If the grant in force has this id, `acquire` succeeds at once and
   * restarts its ttl: a process that has kept its id goes on with its lease after a restart. Never give two processes that
   * run at the same time the same id: both would hold the lease.
   */
  readonly grantId?: string
}

export interface ReleaseOptions {
  /** Replaces the metadata in the record. */
  readonly metadata?: Readonly<Record<string, string>>
}

/**
 * The error for a value that is not valid as `AcquireOptions`; `undefined` if it is valid. JavaScript users pass anything,
 * and a wrong value that is found later surfaces as an untyped error, or not at all.
 */
export function acquireOptionsError(
  options: unknown,
  limits: Pick<StoreLimits, 'metadata' | 'versions'>,
  details: LeaseErrorDetails,
): LeaseConfigurationError | undefined {
  const fault = faultOf(options, limits)
  return fault === undefined ? undefined : new LeaseConfigurationError(fault, details)
}

/** Returns the options. Throws a `LeaseConfigurationError` if they are not valid as `ReleaseOptions`. */
export function checkedReleaseOptions(
  options: ReleaseOptions,
  limits: StoreLimits,
  details: LeaseErrorDetails,
): ReleaseOptions {
  const { metadata } = options
  const fault =
    faultOfNames('release', options, ['metadata']) ??
    (metadata === undefined ? undefined : faultOfMetadata(metadata, roomOf(limits)))
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
  return options
}

const optionNames: OptionNames<AcquireOptions> = {
  wait: true,
  signal: true,
  onLost: true,
  metadata: true,
  ifMatch: true,
  grantId: true,
}

function faultOf(options: unknown, limits: Pick<StoreLimits, 'metadata' | 'versions'>): string | undefined {
  if (options === undefined) return undefined
  if (typeof options !== 'object' || options === null)
    return `the options of acquire and run must be an object, not ${shownValue(options)}`
  const unknown = faultOfNames('acquire', options, Object.keys(optionNames))
  if (unknown !== undefined) return unknown
  const { wait, signal, onLost, metadata, ifMatch, grantId } = options as Record<string, unknown>
  if (wait !== undefined && !(typeof wait === 'number' && wait >= 0)) {
    return `wait must be 0 or more milliseconds, or Infinity, not ${shownValue(wait)}`
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    return `signal must be an AbortSignal, not ${shownValue(signal)}`
  if (onLost !== undefined && typeof onLost !== 'function')
    return `onLost must be a function, not ${shownValue(onLost)}`
  if (grantId !== undefined && !isGuid(grantId)) return faultOfGuid(grantId)
  if (ifMatch !== undefined && (typeof ifMatch !== 'string' || ifMatch === ''))
    return `ifMatch must be a text, such as an ETag, not ${shownValue(ifMatch)}`
  if (ifMatch !== undefined && limits.versions !== true)
    return 'ifMatch was given, but the resources of this store have no versions: leave it out'
  return metadata === undefined ? undefined : faultOfMetadata(metadata, roomOf(limits))
}
