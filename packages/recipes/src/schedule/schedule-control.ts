import {
  type CreateLeaseOptions,
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseStore,
  LeaseUnavailableError,
  type Metadata,
} from '@leasehold/core'
import { checkFault, faultOfFunction, roomOf, shownValue } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames, wallTime } from '@leasehold/core/store-kit'
import { checkMetadataRoom } from '../metadata-room.js'
import { readKnown } from '../read-known.js'
import {
  type ControlState,
  controlFrom,
  controlMetadata,
  controlNameOf,
  isLater,
  MOST_REQUESTS,
  MOST_SKIPPED,
  pauseAt,
  type SchedulePause,
} from './control-record.js'
import { fromMetadata, type ScheduleRecord } from './schedule-record.js'
import { type ScheduleStatus, statusOf } from './schedule-status.js'
import { FOREIGN_PLAN, instantOf, isTick, type Timetable, timetableOf } from './timetable.js'

/** The options of a `ScheduleControl`: durations in milliseconds. */
export interface ScheduleControlOptions
  extends Pick<
    CreateLeaseOptions,
    'owner' | 'heartbeatTimeout' | 'heartbeatInterval' | 'operationTimeout' | 'strategy' | 'clock' | 'logger' | 'random'
  > {
  /** The wall clock; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

export interface PauseOptions {
  /** The reason, for everyone who looks at the schedule: up to 500 characters. */
  readonly reason: string
  /** When the schedule resumes by itself: a `Date`, or an ISO 8601 text with `Z` or an offset. Never unless given. */
  readonly until?: Date | string | undefined
  /** Who pauses it: up to 200 characters. The owner unless given. */
  readonly by?: string | undefined
}

export interface RunNowOptions {
  /** Who asks for the run: up to 200 characters. The owner unless given. */
  readonly by?: string | undefined
}

const optionNames: OptionNames<ScheduleControlOptions> = {
  owner: true,
  heartbeatTimeout: true,
  heartbeatInterval: true,
  operationTimeout: true,
  strategy: true,
  clock: true,
  logger: true,
  random: true,
  now: true,
}

/** The part of the options of a schedule that its control takes. */
export function controlOptionsOf(options: ScheduleControlOptions): ScheduleControlOptions {
  const names = Object.keys(optionNames) as (keyof ScheduleControlOptions)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}

const LONGEST_REASON = 500
const LONGEST_AUTHOR = 200

/** A change of the wishes: the new ones, and the result for the caller. `token` is larger in each later change. */
type Change<T> = (state: ControlState, token: bigint) => readonly [next: ControlState, result: T]

/**
 * Pauses and resumes a schedule, asks for a run by hand, and has ticks skipped: for all instances of the schedule, from any
 * process that reaches its store. The state is kept in the record of the lease `NAME/control`. Instances see a change within
 * their `heartbeatInterval`, and before each run.
 *
 * Guaranteed: a change that has resolved survives restarts of all processes, for as long as the store keeps the record. No
 * change of another operator is lost.
 *
 * Not guaranteed: that a run stops. A run in progress goes on during a pause, and one that is about to start as the pause is
 * written may still start.
 */
export class ScheduleControl {
  readonly #store: LeaseStore
  readonly #name: string
  readonly #controlName: string
  readonly #options: ScheduleControlOptions
  readonly #details: LeaseErrorDetails
  readonly #owner: string
  /** Milliseconds. */
  readonly #timeout: number
  /** For how long a change waits for another operator, in milliseconds: also for one that has died in the middle. */
  readonly #wait: number

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store keeps no metadata. */
  constructor(store: LeaseStore, name: string, options: ScheduleControlOptions = {}) {
    checkOptionNames('ScheduleControl', options, optionNames, { leaseName: name })
    checkFault(faultOfFunction('ScheduleControl: now', options.now), { leaseName: name })
    this.#store = store
    this.#name = name
    this.#options = options
    // Checks the name and the options.
    createLease(store, name, leaseOptionsIn(options))
    this.#controlName = controlNameOf(name)
    const { owner, timeouts } = createLease(store, this.#controlName, leaseOptionsIn(options)).settings
    this.#owner = owner
    this.#timeout = timeouts.operationTimeout
    this.#wait = timeouts.heartbeatTimeout + timeouts.operationTimeout
    this.#details = { leaseName: this.#controlName, owner, store: store.kind ?? 'custom' }
    const smallest = controlMetadata({ skipped: [], requests: [] }, Number.POSITIVE_INFINITY, this.#details)
    checkMetadataRoom('ScheduleControl', store, smallest, 'for pauses and requests')
  }

  /**
   * Pauses the schedule on all instances, until `resume()` or the time `until`. A pause that is in force is replaced. Ticks
   * that are due before the end of the pause are not run, also not later. Resolves once the pause is recorded. Rejects with
   * a `LeaseConfigurationError` if an option is invalid, with a `LeaseHeldError` if another operator holds the control for
   * longer than its ttl, and with another typed error if the outcome is unknown.
   */
  async pause(options: PauseOptions): Promise<void> {
    const details = this.#details
    const given: PauseOptions = Object(options)
    checkOptionNames<PauseOptions>('pause', given, { reason: true, until: true, by: true }, details)
    const { reason, until, by } = given
    const text = this.#text('reason', reason, LONGEST_REASON)
    const author = this.#author(by)
    const now = this.#wall()
    const end = until === undefined ? undefined : instantOf(until)
    if (until !== undefined && (end === undefined || end <= now)) {
      const expected = end === undefined ? 'a date such as 2026-01-31T12:00:00Z, with Z or an offset' : 'in the future'
      throw new LeaseConfigurationError(`pause: until must be ${expected}, not ${shownValue(until)}`, details)
    }
    const paused: SchedulePause = {
      by: author,
      at: shown(now),
      reason: text,
      ...(end === undefined ? {} : { until: shown(end) }),
    }
    await this.#change((state) => [{ ...state, paused }, undefined])
  }

  /**
   * Ends the pause. Ticks that are due from now on are run. Resolves with whether the schedule was paused. Rejects as
   * `pause()` does.
   */
  async resume(): Promise<boolean> {
    return await this.#change((state) => {
      const now = this.#wall()
      const isPaused = pauseAt(state, now) !== undefined
      return [isPaused ? { ...state, paused: undefined, resumedAt: now } : state, isPaused]
    })
  }

  /**
   * Asks for a run by hand: one instance runs the work once, also during a pause, as soon as no other run is in progress. The
   * timetable stays as it is. Resolves with the id of the request once that is recorded: the run comes later, and
   * {@link ScheduleStatus} shows it. Rejects with a `LeaseConflictError` if 5 requests wait already, with a
   * `LeaseConfigurationError` if another scheduler, such as node-cron, decides when the job is due, and as `pause()` does.
   */
  async runNow(options: RunNowOptions = {}): Promise<string> {
    checkOptionNames<RunNowOptions>('runNow', options, { by: true }, this.#details)
    const by = this.#author(options.by)
    const { plan } = await this.#readRecord()
    if (plan === FOREIGN_PLAN) throw this.#notByHand()
    return await this.#change((state, token) => {
      const { requests } = state
      if (requests.length >= MOST_REQUESTS) {
        const message = `${requests.length} runs of schedule '${this.#name}' by hand wait already: wait until one has begun`
        throw new LeaseConflictError(message, this.#details)
      }
      const id = String(token)
      return [{ ...state, requests: [...requests, { id, by, at: shown(this.#wall()) }] }, id]
    })
  }

  #notByHand(): LeaseConfigurationError {
    const message =
      `another scheduler, such as node-cron, decides when '${this.#name}' is due, so that nobody would run it by hand: ` +
      'call its work in your program'
    return new LeaseConfigurationError(message, this.#details)
  }

  /**
   * Has all instances skip the tick that is due at this time: a `Date`, or an ISO 8601 text with `Z` or an offset. No effect
   * if it is skipped already. The timetable is the one that the last run has recorded. Rejects with a
   * `LeaseConfigurationError` if the time is past or not in the timetable, or the timetable is not known; with a
   * `LeaseConflictError` if an instance was ahead and has run the tick, or 10 ticks are skipped already; and as `pause()`
   * does.
   */
  async skip(tick: Date | string): Promise<void> {
    const due = this.#dueOf(tick)
    const { plan } = await this.#readRecord()
    const table = timetableOf(plan, this.#wall())
    if (table !== undefined) return await this.skipIn(table, tick)
    throw new LeaseConfigurationError(
      `the timetable of schedule '${this.#name}' is not recorded, so that ${shown(due)} may be no tick: call skip() of the Schedule`,
      this.#details,
    )
  }

  /** @internal As `skip()`, with the timetable of the schedule. */
  async skipIn(table: Timetable, tick: Date | string): Promise<void> {
    const due = this.#dueOf(tick)
    if (!isTick(table, due)) {
      const next = table.next(due)
      const help = next === undefined ? 'there is no later one' : `the next one is ${shown(next)}`
      throw new LeaseConfigurationError(
        `skip: ${shown(due)} is no tick of schedule '${this.#name}' (${table.plan}): ${help}`,
        this.#details,
      )
    }
    const { tick: decided } = await this.#readRecord()
    if (decided !== undefined && decided >= due) {
      const message = `skip: an instance of schedule '${this.#name}' has run or skipped ${shown(due)} already`
      throw new LeaseConflictError(message, this.#details)
    }
    await this.#change((state) => {
      if (state.skipped.includes(due)) return [state, undefined]
      const now = this.#wall()
      // A past tick may be missing from the record: no instance was running at the time.
      const kept = state.skipped.length < MOST_SKIPPED ? state.skipped : state.skipped.filter((other) => other > now)
      if (kept.length >= MOST_SKIPPED) {
        const message = `${kept.length} ticks of schedule '${this.#name}' are skipped already: pause it instead`
        throw new LeaseConflictError(message, this.#details)
      }
      return [{ ...state, skipped: [...kept, due].toSorted((one, other) => one - other) }, undefined]
    })
  }

  /** The state of the schedule. Rejects if it cannot be read. */
  async read(): Promise<ScheduleStatus> {
    return await this.readWith()
  }

  /** @internal As `read()`, with the timetable of the schedule. */
  async readWith(table?: Timetable): Promise<ScheduleStatus> {
    const [record, control] = await Promise.all([this.#read(this.#name), this.#read(this.#controlName)])
    return statusOf(this.#name, { record, control }, this.#wall(), table)
  }

  /** @internal The wishes of operators. */
  async look(keepAlive = true): Promise<ControlState> {
    return controlFrom((await this.#read(this.#controlName, keepAlive))?.metadata, this.#details)
  }

  /**
   * @internal Removes requests that were run and ticks that were decided. It always writes the record, so
   * that a store that forgets old records keeps this one.
   */
  async tidy(keepAlive = true): Promise<void> {
    await this.#change((state) => [state, undefined], keepAlive)
  }

  /** Changes the wishes under the lease of the control, and resolves when the store has confirmed that. */
  async #change<T>(change: Change<T>, keepAlive = true): Promise<T> {
    const recorded = await this.#readRecord(keepAlive)
    const lease = createLease(this.#store, this.#controlName, leaseOptionsIn(this.#options))
    let written: { readonly metadata: Metadata; readonly result: T } | undefined
    let isConfirmed = false
    try {
      return await lease.run(
        async ({ fencingToken }) => {
          const left = controlFrom(lease.previous, this.#details)
          const [next, result] = change(withoutDone(left, recorded), fencingToken)
          if (next === left) return result
          const metadata = controlMetadata(next, roomOf(this.#store.limits), this.#details)
          written = { metadata, result }
          isConfirmed = await lease.update(metadata)
          if (!isConfirmed) throw new LeaseUnavailableError('the lease of the control ended first', this.#details)
          return result
        },
        { wait: this.#wait, keepAlive },
      )
    } catch (error) {
      if (written === undefined) throw error
      if (isConfirmed || (await this.#isWritten(written.metadata))) return written.result
      throw new LeaseUnavailableError(
        `it is not known whether the change of schedule '${this.#name}' was recorded: read its state, and try again`,
        { ...this.#details, cause: error },
      )
    } finally {
      void lease.close().catch(() => {})
    }
  }

  async #isWritten(metadata: Metadata): Promise<boolean> {
    const found = await this.#read(this.#controlName).catch(() => undefined)
    return found !== undefined && isSame(found.metadata, metadata)
  }

  async #readRecord(keepAlive = true): Promise<ScheduleRecord> {
    return fromMetadata((await this.#read(this.#name, keepAlive))?.metadata, { leaseName: this.#name })
  }

  async #read(name: string, keepAlive = true) {
    const { clock } = this.#options
    return await readKnown(this.#store, name, {
      timeout: this.#timeout,
      keepAlive,
      ...(clock === undefined ? {} : { clock }),
    })
  }

  #dueOf(tick: unknown): number {
    const due = instantOf(tick)
    if (due !== undefined && due > this.#wall()) return due
    const expected = due === undefined ? 'a date such as 2026-01-31T12:00:00Z, with Z or an offset' : 'in the future'
    throw new LeaseConfigurationError(`skip: the tick must be ${expected}, not ${shownValue(tick)}`, this.#details)
  }

  #author(by: unknown): string {
    return by === undefined ? this.#owner.slice(0, LONGEST_AUTHOR) : this.#text('by', by, LONGEST_AUTHOR)
  }

  #text(option: string, value: unknown, longest: number): string {
    if (typeof value === 'string' && value.trim() !== '' && value.length <= longest) return value
    const expected = `a text of 1 to ${longest} characters`
    throw new LeaseConfigurationError(`${option} must be ${expected}, not ${shownValue(value)}`, this.#details)
  }

  #wall(): number {
    return this.#options.now?.().getTime() ?? wallTime()
  }
}

/** Returns the same state if there is nothing to remove. */
function withoutDone(state: ControlState, { tick = Number.NEGATIVE_INFINITY, request }: ScheduleRecord): ControlState {
  const skipped = state.skipped.filter((due) => due > tick)
  const requests = state.requests.filter(({ id }) => isLater(id, request))
  const isTidy = skipped.length === state.skipped.length && requests.length === state.requests.length
  return isTidy ? state : { ...state, skipped, requests }
}

function leaseOptionsIn({ now: _, ...options }: ScheduleControlOptions): CreateLeaseOptions {
  return options
}

function isSame(one: Metadata, other: Metadata): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

function shown(instant: number): string {
  return new Date(instant).toISOString()
}
