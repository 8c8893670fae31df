import {
  isLocked,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseNameError,
  type LeaseStore,
  LeaseUnavailableError,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import {
  checkFault,
  Deferred,
  extendHeld,
  faultOfDuration,
  faultOfFunction,
  guardRandom,
  logSafely,
  reasonOf,
  roomOf,
  shownValue,
} from '@leasehold/core/internal'
import { backoff, checkOptionNames, type OptionNames, systemRandom } from '@leasehold/core/store-kit'
import { KeyedLeases } from '../keyed-leases.js'
import { Recipe } from '../recipe.js'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { readWall } from '../wall-clock.js'
import { admitsTick } from './control-record.js'
import { publishRun, publishTick } from './published-ticks.js'
import { controlOptionsOf, ScheduleControl } from './schedule-control.js'
import { checkRunsRoom, runLeaseOptionsOf, type Tick } from './schedule-options.js'
import { fromMetadata } from './schedule-record.js'
import { isDecided, TickRunner } from './tick-runner.js'
import { FOREIGN_PLAN } from './timetable.js'

/** The options of `TickClaims`: durations in milliseconds. */
export interface TickClaimsOptions extends Omit<RecipeOptions, 'name' | 'maxHold'> {
  /** The beginning of the lease names: the lease of a job is `name/job`. Unless given, the job itself is the lease name. */
  readonly name?: string | undefined
  /** The longest time that one run may take. Then its signal is aborted, and its job is free. No limit unless given. */
  readonly atMostFor?: number | undefined
  /** The wall clock, for the times in records; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

/** The options of one claim. */
export interface TickClaimOptions {
  /** The ttl of the lease of the job, in milliseconds: for so long a dead process blocks the job. That of the options unless given. */
  readonly heartbeatTimeout?: number | undefined
}

/** A tick that this process is to run. */
export interface ClaimedTick extends Tick {
  /**
   * Ends the run: records it and frees the job, never the tick. `error`: of the work, if it failed. Resolves when that is done,
   * or when it has failed and was reported. Never rejects.
   */
  end(error?: unknown): Promise<void>
}

const { maxHold: _, ...leaseOptionNames } = recipeOptionNames
const optionNames: OptionNames<TickClaimsOptions> = { ...leaseOptionNames, atMostFor: true, now: true }

/** The pauses before a tick that another owner may be about to run is looked at again, in milliseconds. */
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 5_000

/** A run of a job in this process, from its claim to its end. */
interface Run {
  readonly due: number
  /** Settles with the work, as the scheduler says it. */
  readonly work: Deferred<void>
  /** `undefined` until the lease is asked for. */
  runner: TickRunner | undefined
  state: 'claiming' | 'running' | 'ending'
  hasOverrun: boolean
  /** Settles when the tick was refused, or when the run is over and the job is free. Rejects if the tick was not run. */
  settled: Promise<void>
}

/**
 * Decides for a scheduler that is not a `Schedule`, such as node-cron, which instance runs a tick. The scheduler of each
 * instance says when its jobs are due; the records of the store decide, as they do for a `Schedule`.
 *
 * Guaranteed: a tick is claimed at most once, whatever the clocks of the instances say. It is recorded before its claim
 * resolves, and a tick that is not later than the recorded one is never claimed, also not after its run has ended or its
 * process has died. Two runs of a job do not overlap while their leases are valid: a tick that becomes due during a run of its
 * job is not claimed. During a pause by `ScheduleControl`, no tick is claimed.
 *
 * Not guaranteed: that each tick is run. A tick is left out if the store cannot be reached, if an earlier run of the job is in
 * progress, or for up to a ttl after the process of such a run has died.
 */
export class TickClaims extends Recipe {
  /** The name of the class in errors and logs. */
  protected static readonly subject: string = 'TickClaims'
  readonly #store: LeaseStore
  readonly #options: TickClaimsOptions
  readonly #leases: KeyedLeases
  readonly #random: () => number
  readonly #runs = new Map<string, Run>()

  /** Throws a `LeaseConfigurationError` if an option is invalid, or if the store keeps no metadata. */
  constructor(store: LeaseStore, options: TickClaimsOptions = {}) {
    const { subject } = new.target
    checkOptionNames(subject, options, optionNames)
    super(subject, store, options)
    const { name, atMostFor, now, random = systemRandom } = options
    checkFault(faultOfDuration(`${subject}: atMostFor`, atMostFor) ?? faultOfFunction(`${subject}: now`, now))
    this.#store = store
    this.#options = options
    this.#random = guardRandom(random, (error) => this.report(error, 'random() failed'))
    const leaseOptions = { name, ...runLeaseOptionsOf(options) }
    this.#leases = new KeyedLeases(store, leaseOptions, subject, (_job, lease) => this.watch(lease))
    checkRunsRoom(subject, store, this.#leases.settings.owner)
  }

  /**
   * Resolves with the tick of a job if this process is to run it, which has to call its `end()` then; with `undefined` if not.
   * Never rejects: a tick that cannot be claimed, because the store fails or an argument is invalid, is not run, and the error
   * is reported to the listeners of `error` or to the logger.
   */
  async claim(job: string, due: Date, options: TickClaimOptions = {}): Promise<ClaimedTick | undefined> {
    try {
      return await this.#claim(job, due, options)
    } catch (error) {
      this.#onFailure(job, due, error)
      return undefined
    }
  }

  /** @internal */
  protected override async end(timeout: number): Promise<void> {
    const runs = [...this.#runs.values()]
    for (const { runner } of runs) runner?.interrupt(timeout)
    const { operationTimeout } = this.#leases.settings.timeouts
    // A store that does not answer must not hold up the end.
    await endsWithin(
      this.clock,
      timeout + operationTimeout,
      Promise.all(runs.map(({ settled }) => settled.catch(() => {}))),
    )
    await this.close(this.#leases.all, operationTimeout)
  }

  #onFailure(job: string, due: Date, cause: unknown): void {
    const isMistake = cause instanceof LeaseConfigurationError || cause instanceof LeaseNameError
    if (this.stopping.aborted || isMistake || cause instanceof LeaseConflictError) {
      this.report(cause, 'a tick is not run')
      return
    }
    this.outage.begin(cause)
    const message = `the tick ${shown(due.getTime())} of '${job}' is not run: ${reasonOf(cause)}`
    const { kind: store = 'custom' } = this.#store
    // The same failure may come again at each tick: one line is enough.
    this.reportLine(message, new LeaseUnavailableError(message, { leaseName: this.#leases.nameOf(job), store, cause }))
  }

  async #claim(job: string, due: Date, own: TickClaimOptions): Promise<ClaimedTick | undefined> {
    this.throwIfStopped()
    checkOptionNames<TickClaimOptions>('claim', own, { heartbeatTimeout: true })
    const before = this.#runs.get(job)
    if (before !== undefined && before.state !== 'ending') {
      this.#onOverrun(job, before)
      return undefined
    }
    const work = new Deferred<void>()
    const settled = before?.settled.catch(() => {}) ?? Promise.resolve()
    const run: Run = {
      due: instantOf(job, due),
      work,
      runner: undefined,
      state: 'claiming',
      hasOverrun: false,
      settled,
    }
    this.#runs.set(job, run)
    return await new Promise((resolve, reject) => {
      run.settled = settled.then(() => this.#run(job, run, own, resolve))
      run.settled.then(() => resolve(undefined), reject)
    })
  }

  async #run(job: string, run: Run, own: TickClaimOptions, onClaimed: (tick: ClaimedTick) => void): Promise<void> {
    const end = async (error?: unknown): Promise<void> => {
      run.state = 'ending'
      if (error === undefined) run.work.resolve()
      else run.work.reject(error)
      await run.settled.catch(() => {})
    }
    const work = (tick: Tick): Promise<void> => {
      run.state = 'running'
      onClaimed(extendHeld(tick, { end }))
      return run.work.promise
    }
    try {
      await this.#leases.use(job, (lease) => this.#attempt(lease, this.#runnerOf(lease, work), run), own)
    } finally {
      if (this.#runs.get(job) === run) this.#runs.delete(job)
    }
  }

  /** Asks for the tick until it is decided, or an earlier run of the job is in progress. */
  async #attempt(lease: StoreLease, runner: TickRunner, run: Run): Promise<void> {
    run.runner = runner
    const { name, timeouts } = lease.settings
    const { due } = run
    const start = this.clock.now()
    for (let attempts = 0; !this.stopping.aborted; attempts += 1) {
      const { operationTimeout: timeout, heartbeatTimeout } = timeouts
      const record = await readLease(this.#store, name, { timeout, clock: this.clock })
      this.outage.onAnswer()
      const found = fromMetadata(record?.metadata, { leaseName: name })
      if (isDecided({ due }, found)) return
      if (!isLocked(record)) {
        const fate = await runner.run({ due })
        if (fate === 'withheld') publishTick(lease.settings, due, 'skipped')
        if (fate !== 'refused') return
      } else if (found.run?.outcome === 'running') return
      // The holder may not have recorded its tick yet, and may die before it does.
      if (this.clock.now() - start >= heartbeatTimeout) return
      await pauseUntil(this.clock, backoff(attempts, FIRST_PAUSE, LONGEST_PAUSE, this.#random), this.stopping)
    }
  }

  #runnerOf(lease: StoreLease, work: (tick: Tick) => Promise<void>): TickRunner {
    const { atMostFor } = this.#options
    const { name } = lease.settings
    return new TickRunner(
      lease,
      { work, atMostFor },
      {
        clock: this.clock,
        wall: () => this.#wall(),
        room: roomOf(this.#store.limits),
        plan: FOREIGN_PLAN,
        report: this.report,
        isWanted: async ({ due }) => admitsTick(await this.#controlOf(name).look(), due),
        onStarted: () => {},
        onEnded: (run) => publishRun(name, run),
      },
    )
  }

  #controlOf(name: string): ScheduleControl {
    const options = { ...controlOptionsOf(this.#options), clock: this.clock, now: () => new Date(this.#wall()) }
    return new ScheduleControl(this.#store, name, options)
  }

  /** A run that never ends would block its job without a word. */
  #onOverrun(job: string, run: Run): void {
    if (run.state !== 'running' || run.hasOverrun) return
    run.hasOverrun = true
    const message =
      `'${job}': the run of the tick ${shown(run.due)} is in progress here, so the ticks that become due ` +
      'meanwhile are left out; set atMostFor to limit a run'
    logSafely(this.logger, 'warn', message)
  }

  #wall(): number {
    return readWall(this.#options.now, this.report)
  }
}

function instantOf(job: string, due: Date): number {
  if (typeof job !== 'string' || job === '') throw wrong(`the job must be a text, not ${shownValue(job)}`)
  const instant = due instanceof Date ? due.getTime() : Number.NaN
  if (Number.isInteger(instant)) return instant
  throw wrong(`the tick of '${job}' must be a Date, not ${shownValue(due)}`)
}

function shown(instant: number): string {
  return new Date(instant).toISOString()
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`claim: ${message}`)
}
