import {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  type LeaseStore,
  type StoreLease,
} from '@leasehold/core'
import { Alarm, guardRandom, onSignal, workContext } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { systemRandom } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { KeyedLeases } from '../keyed-leases.js'
import { checkMetadataRoom } from '../metadata-room.js'
import { Recipe } from '../recipe.js'
import { endsWithin } from '../waiting.js'
import { readWall } from '../wall-clock.js'
import { Flight, type FlightKey, FlightKeys } from './flight-keys.js'
import { type FlightState, largestWithout } from './flight-record.js'
import type { KnownValue } from './known-value.js'
import {
  checkedRequest,
  checkOptions,
  type FlightRequest,
  type Refresh,
  type SingleFlightGetOptions,
  type SingleFlightOptions,
} from './single-flight-options.js'
import { type RunProgress, type SeenRecord, StoredValues, unconfirmed } from './stored-values.js'

/** The value of a key, as `read` returns it. */
export interface SingleFlightValue {
  readonly value: unknown
  readonly state: FlightState
  /** When its refresh began, by the wall clock of the owner that has refreshed it. */
  readonly refreshedAt: Date
  readonly owner: string
  /** The fencing token of its refresh: larger for each later value. */
  readonly fencingToken: bigint
}

/** For how long a caller waits before it watches the record, in milliseconds: most refreshes wait for nobody. */
const BEFORE_WATCH = 50

/** The longest pause before a broken watch is started again, in milliseconds. */
const LONGEST_PAUSE = 5_000

/** If another process refreshes a stale value, it is looked at again after this part of the heartbeat interval. */
const NEXT_LOOK = 1 / 10

/**
 * Keeps values that expire, such as access tokens, for any number of processes. One process refreshes a value, and all
 * callers of all processes get it.
 *
 * Guaranteed: while the value of a key is fresh, no refresh of it starts. The refreshes of a key never overlap while their
 * leases are valid. A value is passed as `previous` to at most one refresh that is not `interrupted`, unless that refresh
 * rejects. A value is written under the fencing token of its refresh, and no value replaces a later one.
 *
 * Not guaranteed: that a refresh starts once for each expiry. If a holder dies, or loses its lease, before its value is
 * written, the next caller starts a refresh, which is `interrupted`. The age of a value is measured with the wall clocks of
 * the machines: if they differ, a value is used for that much longer or shorter.
 */
export class SingleFlight extends Recipe {
  readonly #leases: KeyedLeases
  readonly #values: StoredValues
  readonly #keys: FlightKeys
  readonly #random: () => number
  /** The flights that have not ended. */
  readonly #flights = new Map<Flight, Promise<void>>()

  /** Throws a `LeaseConfigurationError` if an option is invalid, or if the store keeps no metadata. */
  constructor(store: LeaseStore, options: SingleFlightOptions = {}) {
    const cacheSize = checkOptions(options)
    super('single-flight', store, options)
    const { now, place, random = systemRandom } = options
    this.#random = guardRandom(random, (error) => this.report(error, 'random() failed'))
    this.#keys = new FlightKeys(cacheSize)
    this.#leases = new KeyedLeases(store, options, 'single-flight', (_key, lease) => this.watch(lease))
    this.#values = new StoredValues(this.#leases, { place, wall: () => readWall(now, this.report) })
    checkMetadataRoom('SingleFlight', store, largestWithout(this.#leases.settings.owner), 'for the times of a value')
  }

  /**
   * Resolves with the value of the key. While it is fresh: from memory or the record. While it is stale: at once, and one
   * process refreshes it behind the callers; if that fails, the event `error` gets the error. When it is expired, or there is
   * none: waits until one process has refreshed it.
   *
   * Callers in one process share one wait, and the `refresh` of the first of them. If it fails, they reject with its error;
   * other processes, and later callers, try again. They reject with a `LeaseLostError` if the lease is lost during the
   * refresh, even if the refresh ignores its signal; with a `LeaseUnavailableError` if it is unknown whether the value was
   * written; with a `LeaseTimeoutError` or a `LeaseUnavailableError` if the record cannot be read.
   *
   * Rejects with a `LeaseConfigurationError` if an argument is invalid, if the value is no JSON or the record has no room for
   * it, or if another recipe has written the record.
   */
  async get<T>(key: string, refresh: Refresh<T>, options: SingleFlightGetOptions<T>): Promise<T> {
    const details = { leaseName: key, owner: this.#leases.settings.owner }
    const request = checkedRequest(refresh, options, details)
    this.#checkKey(key)
    const { signal } = options
    for (;;) {
      signal?.throwIfAborted()
      this.throwIfStopped()
      const known = this.#keys.use(key).known
      if (known !== undefined && isUsable(known, request)) {
        if (known.state === 'stale') this.#refreshBehind(key, request)
        return known.value as T
      }
      const found = await this.#join(key, request, signal)
      if (found !== undefined) return found.value as T
    }
  }

  /** The value of the key as its record has it; `undefined` if there is none. Starts nothing. */
  async read(key: string): Promise<SingleFlightValue | undefined> {
    this.#checkKey(key)
    const { stored, sight } = await this.#values.read(key)
    const known = await this.#values.load(key, stored, sight)
    if (known === undefined) return undefined
    const { refreshedAt, refreshedBy: owner, token: fencingToken } = known.stored
    return { value: known.value, state: known.state, refreshedAt: new Date(refreshedAt), owner, fencingToken }
  }

  /**
   * Removes the value from the record, so that the next `get` refreshes it without `previous`. The place keeps its value.
   * Other processes may return the value from memory while it is fresh. Resolves once the removal is confirmed. Rejects with a
   * `LeaseHeldError` if a refresh is in progress, and with a typed error if the outcome is unknown.
   */
  async forget(key: string): Promise<void> {
    this.#checkKey(key)
    this.throwIfStopped()
    await this.#leases.use(key, (lease) => lease.run((held) => this.#values.clear(key, lease, held)))
    this.#keys.forget(key)
  }

  /**
   * @internal Callers that wait reject at once. Refreshes in progress may end within half of the time, so that their values
   * are written: an aborted one would leave its outcome unknown.
   */
  protected override async end(timeout: number): Promise<void> {
    const startedAt = this.clock.now()
    for (const flight of this.#flights.keys()) if (!flight.hasBegun) flight.call.abort(this.closed.reason)
    await endsWithin(this.clock, timeout / 2, Promise.all(this.#flights.values()))
    await this.close(this.#leases.all, Math.max(0, timeout - (this.clock.now() - startedAt)))
  }

  #checkKey(key: string): void {
    if (typeof key === 'string') return
    throw new LeaseConfigurationError('the key must be a text', { owner: this.#leases.settings.owner })
  }

  /** Joins the flight of the key, or starts one. `undefined`: it has found nothing for this caller, which tries again. */
  async #join(key: string, request: FlightRequest, signal: AbortSignal | undefined): Promise<KnownValue | undefined> {
    const { flight: underWay } = this.#keys.use(key)
    const isJoining = underWay?.isOpen === true
    const lease = this.#leases.get(key)
    if (isJoining && lease !== undefined && workContext.includes(lease)) {
      const message = `get of '${key}' was called inside its own refresh, which it would wait for: use what the refresh gets`
      throw new LeaseConflictError(message, this.#values.detailsOf(key))
    }
    const flight = isJoining ? underWay : this.#start(key, request, false)
    await flight.join(signal === undefined ? {} : { signal }).promise
    const { found } = flight
    if (found === undefined || (flight.request !== request && !request.accepts(found.value))) return undefined
    // A value that was refreshed just now is not refreshed again for this caller, even if it is stale already.
    if (!flight.hasBegun && found.state === 'stale') this.#refreshBehind(key, request)
    return found
  }

  #refreshBehind(key: string, request: FlightRequest): void {
    const used = this.#keys.use(key)
    if (used.flight?.isOpen === true || this.clock.now() < used.quietUntil || this.closed.aborted) return
    this.#start(key, request, true)
  }

  #start(key: string, request: FlightRequest, isBehind: boolean): Flight {
    const used = this.#keys.use(key)
    const flight = new Flight(this.clock, request, isBehind)
    used.flight = flight
    const ended = this.#fly(key, used, flight).finally(() => this.#flights.delete(flight))
    this.#flights.set(flight, ended)
    return flight
  }

  /** Never rejects. */
  async #fly(key: string, used: FlightKey, flight: Flight): Promise<void> {
    const end = (): void => {
      if (used.flight === flight) used.flight = undefined
    }
    try {
      const found = await this.#leases.use(key, (lease) => this.#find(key, lease, used, flight))
      flight.found = found && this.#keys.keep(used, found)
      end()
      flight.settle({ isHeld: true })
    } catch (error) {
      end()
      this.#quieten(used, 1)
      const callers = flight.takeAll()
      // A flight that nobody waited for any more, and that had not begun, was given up.
      const isMissed = callers.length === 0 && (flight.isBehind || flight.hasBegun) && !this.closed.aborted
      if (isMissed) this.reportLine(`the refresh of '${key}' failed`, error)
      flight.settle({ error }, callers)
    }
  }

  async #find(key: string, lease: StoreLease, used: FlightKey, flight: Flight): Promise<KnownValue | undefined> {
    const seen = await this.#values.read(key, flight.isBehind ? undefined : flight.call.signal)
    const found = await this.#usable(key, seen, used, flight)
    if (found !== undefined && (found.state === 'fresh' || !flight.isBehind)) return found
    if (flight.isBehind && seen.isLocked) return this.#leave(used)
    this.throwIfStopped()
    return await this.#refresh(key, lease, used, flight, seen)
  }

  /** The value of a record, if the callers of the flight can use it. */
  async #usable(
    key: string,
    { stored, sight }: SeenRecord,
    used: FlightKey,
    { request }: Flight,
  ): Promise<KnownValue | undefined> {
    // This process may have seen the value before, by a wall clock that was set meanwhile.
    const known = (await this.#values.load(key, stored, sight))?.orLater(used.known)
    return known !== undefined && isUsable(known, request) ? known : undefined
  }

  async #refresh(
    key: string,
    lease: StoreLease,
    used: FlightKey,
    flight: Flight,
    seen: SeenRecord,
  ): Promise<KnownValue | undefined> {
    const { request, isBehind, call } = flight
    const seenTokens = [seen.stored?.token, used.known?.stored.token]
    const isEnough = (left: KnownValue): boolean => {
      const known = left.orLater(used.known)
      return isUsable(known, request) && (known.state === 'fresh' || !seenTokens.includes(known.stored.token))
    }
    const progress: RunProgress = { isMade: false }
    const waiting = new FirstAbort(call.signal)
    const watching = new AbortableCall()
    let found: KnownValue | undefined
    if (!isBehind) {
      this.#watchValue(key, used, flight, seen, watching, (value) => {
        found = value
        waiting.abort()
      })
    }
    const running = lease.run(
      async (held) => {
        this.throwIfStopped()
        flight.hasBegun = true
        watching.abort()
        found = await this.#values.refresh(key, lease, held, request, isEnough, progress)
      },
      isBehind ? {} : { wait: Number.POSITIVE_INFINITY, signal: waiting.signal },
    )
    try {
      await running
    } catch (error) {
      if (found !== undefined) return found
      if (isBehind && error instanceof LeaseHeldError) return this.#leave(used)
      throw progress.isMade ? unconfirmed(this.#values.detailsOf(key), error) : error
    } finally {
      watching.abort()
      waiting.forget()
    }
    return found
  }

  /** Looks at the record while the flight waits for the lease: all waiters get a value as soon as it is written. */
  #watchValue(
    key: string,
    used: FlightKey,
    flight: Flight,
    seen: SeenRecord,
    watching: AbortableCall,
    onValue: (value: KnownValue) => void,
  ): void {
    const { store, clock } = this.#leases
    const alarm = new Alarm(clock, watching)
    const source = { store, name: this.#leases.nameOf(key), longestPause: LONGEST_PAUSE, clock, random: this.#random }
    const watch = async (): Promise<void> => {
      await alarm.wait(clock.now() + (seen.isLocked ? 0 : BEFORE_WATCH))
      if (watching.aborted) return
      onSignal(source, watching, () => alarm.ring())
      while (!watching.aborted) {
        await alarm.wait(Number.POSITIVE_INFINITY)
        if (watching.aborted) return
        const record = await this.#values.read(key, watching.signal)
        const value =
          record.stored?.token === seen.stored?.token ? undefined : await this.#usable(key, record, used, flight)
        if (value !== undefined && !flight.hasBegun && !watching.aborted) return onValue(value)
      }
    }
    // A watch only saves time: the wait for the lease finds and reports what is wrong with the store.
    if (store.watch !== undefined) watch().catch(() => {})
  }

  /** Another process refreshes the value. */
  #leave(used: FlightKey): undefined {
    this.#quieten(used, NEXT_LOOK)
    return undefined
  }

  #quieten(used: FlightKey, intervals: number): void {
    const { heartbeatInterval } = this.#leases.settings.timeouts
    used.quietUntil = this.clock.now() + intervals * heartbeatInterval
  }
}

function isUsable(known: KnownValue, { accepts }: FlightRequest): boolean {
  return known.state !== 'expired' && accepts(known.value)
}
