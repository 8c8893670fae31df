import { faultOfAnswer } from '../engine/store-answers.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseError } from '../errors/lease-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { listingText } from '../errors/listing-text.js'
import { checkFault, faultOfLimit } from '../errors/option-faults.js'
import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import { reasonOf } from '../errors/shown-value.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { normalGuid } from '../store/guid.js'
import { isLocked, type LeaseRecord, withJSON } from '../store/lease-record.js'
import type { BreakOptions, LeaseStore } from '../store/lease-store.js'
import { faultOfMetadata } from '../store/metadata.js'
import { AbortableCall, type StoreCall } from '../store/store-call.js'
import { untilAborted } from '../store-kit/until-aborted.js'
import { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import { inTime } from '../time/in-time.js'
import { keepAlive } from '../time/keep-alive.js'
import { systemClock } from '../time/system-clock.js'
import { readGuarded } from '../user-code/guarded-calls.js'

/** In milliseconds: the time limit that Akka has. */
const DEFAULT_TIMEOUT = 5_000

export interface StoreOperationOptions {
  /** The time limit in milliseconds, 5 s unless given; of a listing: for each record. */
  readonly timeout?: number | undefined
  /** Cancels the operation, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** For tests; the machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Whether the process stays alive until this call has settled; `true` unless given. */
  readonly keepAlive?: boolean | undefined
}

const optionNames: OptionNames<StoreOperationOptions> = { timeout: true, signal: true, clock: true, keepAlive: true }

const aborts = new AbortListeners()

/**
 * The record of a name, held or not; `undefined` where there is none. Rejects with a typed error when it cannot be read, or
 * if the store answers with anything but a record.
 * `JSON.stringify` accepts the record, and `LeaseRecord.fromJSON` reads it back.
 */
export async function readLease(
  store: LeaseStore,
  name: string,
  options: StoreOperationOptions = {},
): Promise<LeaseRecord | undefined> {
  checkOptionNames('readLease', options, optionNames, { leaseName: name })
  return await withinTime(options, store, { operation: `reading lease '${name}'`, leaseName: name }, async (call) => {
    const sentAt = wallOf(options)
    const record = await store.read(name, call)
    if (record === undefined) return undefined
    const fault = faultOfAnswer('read', record) ?? faultOfMetadata(record.metadata)
    if (fault !== undefined) throw new Error(`its answer is not valid: ${fault}`)
    return shownRecord(record, sentAt)
  })
}

/** The record of the holder of a lease; `undefined` where the name is free. */
export async function readHolder(
  store: LeaseStore,
  { name, timeouts }: LeaseSettings,
  clock: Clock,
): Promise<LeaseRecord | undefined> {
  const record = await readLease(store, name, { timeout: timeouts.operationTimeout, clock })
  return isLocked(record) ? record : undefined
}

/**
 * Ends a lease without its holder; the holder notices at its next heartbeat. The name stays locked for `period`
 * milliseconds, at most the time left of the ttl; without a period, for the time left. Resolves with the milliseconds
 * until the name is free. Rejects with a `LeaseConflictError` if there is nothing to break, or if `grantId` is given and
 * another grant is in force.
 */
export async function breakLease(
  store: LeaseStore,
  name: string,
  given: BreakOptions & StoreOperationOptions = {},
): Promise<{ readonly remaining: number }> {
  const names = { ...optionNames, period: true, reason: true, grantId: true } as const
  checkOptionNames('breakLease', given, names, { leaseName: name })
  const { timeout, signal, clock, keepAlive, ...asked } = given
  const breaking = asked.grantId === undefined ? asked : { ...asked, grantId: storedId(asked.grantId) }
  return await withinTime(
    { timeout, signal, clock, keepAlive },
    store,
    { operation: `breaking lease '${name}'`, leaseName: name },
    async (call) => {
      if (store.break === undefined) throw cannot(store, 'break leases')
      return await store.break(name, breaking, call)
    },
  )
}

/**
 * Frees a name whose grant has this id, as its holder would; the holder notices at its next heartbeat. Resolves with
 * `false`, and changes nothing, if that grant is not in force. Rejects with a typed error when the outcome is unknown.
 */
export async function releaseLease(
  store: LeaseStore,
  name: string,
  given: { readonly grantId: string } & StoreOperationOptions,
): Promise<boolean> {
  checkOptionNames('releaseLease', given, { ...optionNames, grantId: true }, { leaseName: name })
  const { grantId: asked, ...options } = given
  const grantId = storedId(asked)
  const record = await readLease(store, name, options)
  if (record === undefined || record.grantId !== grantId) return false
  const { owner, fencingToken, ttl = Number.POSITIVE_INFINITY } = record
  const { released } = await withinTime(
    options,
    store,
    { operation: `releasing lease '${name}'`, leaseName: name },
    (call) => store.release({ name, owner, grantId, fencingToken, ttl }, call),
  )
  return released
}

/**
 * The records of all names that start with `prefix`, held or not, in any order. A name that has a record throughout the
 * listing comes exactly once. Throws a typed error when the store does not answer in time, or cannot list.
 */
export async function* listLeases(
  store: LeaseStore,
  prefix = '',
  options: StoreOperationOptions = {},
): AsyncGenerator<LeaseRecord, void, undefined> {
  checkOptionNames('listLeases', options, optionNames)
  if (store.list === undefined) throw cannot(store, 'list leases')
  const listing = new AbortableCall(options.timeout ?? DEFAULT_TIMEOUT)
  const records = store.list(prefix, listing)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const sentAt = wallOf(options)
      const { done, value } = await withinTime(options, store, { operation: listingText(prefix) }, async (call) => {
        call.onAbort(() => listing.abort(call.signal.reason))
        const next = await records.next()
        const fault = next.done === true ? undefined : faultOfListed(next.value)
        if (fault !== undefined) throw new Error(`its answer is not valid: ${fault}`)
        return next
      })
      if (done === true) return
      yield shownRecord(value, sentAt)
    }
  } finally {
    listing.abort()
    // An iterator that hangs must not hold up its reader.
    void Promise.resolve(records.return?.()).catch(() => {})
  }
}

function faultOfListed(record: LeaseRecord | undefined): string | undefined {
  if (record === undefined) return 'a record is missing'
  return faultOfAnswer('read', record) ?? faultOfMetadata(record.metadata)
}

/** The wall clock; `undefined` where the clock, which may be the user's, does not know. */
function wallOf({ clock = systemClock }: StoreOperationOptions): number | undefined {
  const wall: unknown = readGuarded(
    () => clock.wall?.(),
    () => {},
  )
  return typeof wall === 'number' && Number.isFinite(wall) ? wall : undefined
}

/** The record as users see it. `sentAt`: when it was asked for, by the wall clock. */
function shownRecord(record: LeaseRecord, sentAt: number | undefined): LeaseRecord {
  const { ttl, remaining } = record
  if (!isLocked(record)) return withJSON(record)
  const duration = record.duration ?? (ttl && (ttl === Number.POSITIVE_INFINITY ? 'infinite' : 'fixed'))
  return withJSON({
    ...record,
    ...(duration && { duration }),
    ...(remaining !== undefined && sentAt !== undefined && { expiresAt: sentAt + remaining }),
  })
}

/**
 * Carries out one operation of a user within a time limit, and until the signal aborts. Rejects with a typed error.
 * `operation`: the words with which the error begins.
 */
export async function withinTime<T>(
  options: StoreOperationOptions,
  store: LeaseStore,
  { operation, leaseName }: { readonly operation: string; readonly leaseName?: string },
  ask: (call: StoreCall) => Promise<T>,
): Promise<T> {
  checkOptionNames('withinTime', options, optionNames)
  const { timeout = DEFAULT_TIMEOUT, signal, clock = systemClock, keepAlive: keepsAlive = true } = options
  const { kind = 'custom' } = store
  const details = { ...(leaseName === undefined ? {} : { leaseName }), store: kind }
  checkFault(faultOfLimit('timeout', timeout), details)
  signal?.throwIfAborted()
  const endKeeping = keepsAlive ? keepAlive(clock) : () => {}
  const call = new AbortableCall(timeout)
  const late = (): never => {
    const message = `${operation}: the ${kind} store did not answer within ${timeout} ms; try again, or raise timeout`
    call.abort(new LeaseTimeoutError(message, details))
    throw call.signal.reason
  }
  const unlisten = signal && aborts.add(signal, () => call.abort(signal.reason))
  try {
    const asked = Promise.resolve(ask(call))
    return await inTime(clock, timeout, untilAborted(asked, call), late)
  } catch (error) {
    if (error instanceof LeaseError || call.aborted) throw error
    const message = `${operation}: the ${kind} store failed: ${reasonOf(error)}; see the cause, and try again`
    throw new LeaseUnavailableError(message, { ...details, cause: error })
  } finally {
    unlisten?.()
    endKeeping()
  }
}

/** The grant id as records show it. An id that a store wrote for another program need not be a GUID. */
function storedId(grantId: string): string {
  return normalGuid(grantId) ?? grantId
}

function cannot({ kind = 'custom' }: LeaseStore, what: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`the ${kind} store cannot ${what}`, { store: kind })
}
