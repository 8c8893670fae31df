import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import type { LeaseLost } from '../errors/lease-lost.js'
import { faultOfFlag, faultOfFunction, faultOfLimit, faultOfSignal } from '../errors/option-faults.js'
import { faultOfNames, type OptionNames } from '../errors/option-names.js'
import { shownValue } from '../errors/shown-value.js'
import { faultOfGuid, normalGuid } from '../store/guid.js'
import type { LeaseRecord } from '../store/lease-record.js'
import type { StoreLimits } from '../store/lease-store.js'
import { faultOfMetadata, roomOf } from '../store/metadata.js'

/** Revocation with notice: when a challenger has the lease of the holder broken. */
export interface PreemptOptions {
  /**
   * The least notice of the holder, in milliseconds: how much of its ttl has to be left when its lease is broken, at most
   * half of it. If less is left, the challenger lets the holder renew first. Choose at least the `heartbeatInterval` and
   * the `operationTimeout` of the holder: otherwise, the holder may hear of the break only when its validity ends.
   *
   * The name stays locked for the rest of the ttl in any case, because a holder that hears nothing may act until then.
   */
  readonly period: number
  /**
   * Whether to break the lease of this holder. Called once for each grant of a holder, and again when another one follows.
   * Must return at once. If it throws, this `acquire` rejects.
   */
  readonly when: (holder: LeaseRecord) => boolean
}

export interface AcquireOptions {
  /**
   * Called exactly once for the grant that this call obtains, or finds held, when it ends without a release; never
   * before `acquire` has resolved, never after a release was asked for. An error that it throws is reported and has no other effect.
   * With `selfFence`: if it returns a promise, the loss is acknowledged, and the name freed, only when that has settled.
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
   * The id of the grant, a GUID; a new one unless given. Records show it as `crypto.randomUUID()` does, also if it is given
   * without hyphens, in braces, in parentheses or in upper case: the formats N, B and P of .NET. If the grant in force has
   * this id, `acquire` succeeds at once and restarts its ttl: a process that has kept its id goes on with its lease after a
   * restart. Never give two processes that run at the same time the same id: both would hold the lease.
   */
  readonly grantId?: string
  /**
   * Breaks the lease of the holder, if `when` says so, and then waits for the turn: `wait` is required. The holder loses it
   * (`broken`) at its next heartbeat. The break is for the grant that `when` saw, never for a later one, and stays in place
   * if this attempt is cancelled. Only for stores with `break`. Rejects with a `LeaseConflictError` for a holder whose lease
   * does not expire.
   */
  readonly preempt?: PreemptOptions
  /** Whether the process stays alive until this call has settled; `true` unless given. A held lease never keeps it alive. */
  readonly keepAlive?: boolean
}

export interface ReleaseOptions {
  /** Replaces the metadata in the record. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** The parts of a store that some options need. */
interface OptionalParts {
  readonly limits: Pick<StoreLimits, 'metadata' | 'versions'>
  readonly break?: unknown
}

/**
 * The error for a value that is not valid as `AcquireOptions`; `undefined` if it is valid. JavaScript users pass anything,
 * and a wrong value that is found later surfaces as an untyped error, or not at all.
 */
export function acquireOptionsError(
  options: unknown,
  store: OptionalParts,
  details: LeaseErrorDetails,
): LeaseConfigurationError | undefined {
  const fault = faultOf(options, store)
  return fault === undefined ? undefined : new LeaseConfigurationError(fault, details)
}

/** Returns the options. Throws a `LeaseConfigurationError` if they are not valid as `ReleaseOptions`. */
export function checkedReleaseOptions(
  options: ReleaseOptions,
  limits: StoreLimits,
  details: LeaseErrorDetails,
): ReleaseOptions {
  const { metadata } = options
  const fault = faultOfNames('release', options, ['metadata']) ?? faultOfMetadataOf(metadata, limits)
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
  preempt: true,
  keepAlive: true,
}

function faultOf(options: unknown, store: OptionalParts): string | undefined {
  const { limits } = store
  if (options === undefined) return undefined
  if (typeof options !== 'object' || options === null)
    return `the options of acquire and run must be an object, not ${shownValue(options)}`
  const unknown = faultOfNames('acquire', options, Object.keys(optionNames))
  if (unknown !== undefined) return unknown
  const { wait, signal, onLost, metadata, ifMatch, grantId, preempt, keepAlive } = options as Record<string, unknown>
  const called = faultOfSignal(signal) ?? faultOfFunction('onLost', onLost) ?? faultOfFlag('keepAlive', keepAlive)
  const fault = faultOfLimit('wait', wait) ?? called
  if (fault !== undefined) return fault
  if (grantId !== undefined && normalGuid(grantId) === undefined) return faultOfGuid(grantId)
  if (ifMatch !== undefined && (typeof ifMatch !== 'string' || ifMatch === ''))
    return `ifMatch must be a text, such as an ETag, not ${shownValue(ifMatch)}`
  if (ifMatch !== undefined && limits.versions !== true)
    return 'ifMatch was given, but the resources of this store have no versions: leave it out'
  return faultOfPreempt(preempt, wait, store) ?? faultOfMetadataOf(metadata, limits)
}

function faultOfMetadataOf(metadata: unknown, limits: OptionalParts['limits']): string | undefined {
  return metadata === undefined ? undefined : faultOfMetadata(metadata, roomOf(limits))
}

function faultOfPreempt(preempt: unknown, wait: unknown, store: OptionalParts): string | undefined {
  if (preempt === undefined) return undefined
  if (typeof preempt !== 'object' || preempt === null)
    return `preempt must be { period, when }, not ${shownValue(preempt)}`
  const { period, when } = preempt as Record<string, unknown>
  const unknown = faultOfNames('preempt', preempt, Object.keys(preemptNames))
  if (unknown !== undefined) return unknown
  if (!(typeof period === 'number' && period >= 0 && period < Number.POSITIVE_INFINITY))
    return `preempt.period must be 0 or more milliseconds, not ${shownValue(period)}`
  if (typeof when !== 'function') return `preempt.when must be a function, not ${shownValue(when)}`
  if (store.break === undefined)
    return 'preempt was given, but this store cannot break leases: leave it out, and wait for the release'
  return wait === undefined || wait === 0
    ? 'preempt needs a wait: the name is free only some time after the break'
    : undefined
}

const preemptNames: OptionNames<PreemptOptions> = { period: true, when: true }
