import { isLocked, type LeaseRecord, type LeaseStore, readLease, type StoreLease } from '@leasehold/core'
import { guardRandom, logSafely, readGuarded, roomOf } from '@leasehold/core/internal'
import { systemRandom, wallTime } from '@leasehold/core/store-kit'
import { type RecipeEvents, StartedRecipe } from '../recipe.js'
import { pauseUntil } from '../waiting.js'
import { checkOptions, createScheduleLease, keepsTicks, type ScheduleOptions } from './schedule-options.js'
import { endedRun, fromMetadata, type ScheduledRun, type ScheduleRecord } from './schedule-record.js'
import { type TickFate, TickRunner } from './tick-runner.js'
import { createTimetable, LAST_INSTANT, type Timetable } from './timetable.js'

/** The state of a schedule, over all instances. */
export interface ScheduleStatus {
  /** The next tick that can be run; `undefined` if there is none. */
  readonly next: Date | undefined
  /** The run in progress. */
  readonly running: ScheduledRun | undefined
  /** The last run that has ended. */
  readonly last: ScheduledRun | undefined
}

/** The events of a `Schedule`, and their arguments. */
export interface ScheduleEvents extends RecipeEvents {
  /**
   * Another instance runs the schedule of this name with another expression, interval, anchor or time zone, which is the
   * argument as a text. Emitted once. It passes with a rolling deployment; otherwise two schedules have the same name.
   */
  differs: [plan: string]
}

/** The longest sleep in milliseconds: the wall clock may be set meanwhile. */
const LONGEST_SLEEP = 30_000

/** How much the wall clock has to go back until that counts as a step, in milliseconds. */
const SMALLEST_STEP = 1_000

/** An undecided tick is looked at this many times in a ttl, with pauses of `LONGEST_PAUSE` milliseconds at most. */
const LOOKS_PER_TTL = 10
const LONGEST_PAUSE = 5_000

/** How late an instance may begin to attend to a tick, in milliseconds: at most, and if the store keeps no ticks. */
const LONGEST_LATENESS = 120_000
const LATENESS_WITHOUT_RECORD = 1_000

/**
 * Runs a work at each tick of a cron expression or an interval, on one of any number of instances.
 *
 * Guaranteed, where the store keeps metadata: a tick is run at most once, whatever the clocks of the instances say. It is
 * recorded before its work starts, and a tick that is not later than the recorded one is never run. It is run at least
 * once, if an instance lives until it can acquire the lease, and the work before has ended by then. Two works do not overlap
 * while their leases are valid.
 *
 * Not guaranteed: that a work that was started is completed. A tick whose holder dies in the middle is interrupted, and is
 * not run again. Where the store keeps no metadata, a tick can be run twice if the clocks of two instances differ by
 * `atLeastFor` or more, or if the holder dies.
 */
export class Schedule extends StartedRecipe<ScheduleEvents> {
  readonly #store: LeaseStore
  readonly #options: ScheduleOptions
  readonly #lease: StoreLease
  readonly #random: () => number
  readonly #table: Timetable
  readonly #runner: TickRunner
  readonly #keepsTicks: boolean
  /** The tick in the first record that was seen: the deployment before may have left it. */
  #firstTick: number | undefined
  #hasReportedPlan = false

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid. */
  constructor(store: LeaseStore, options: ScheduleOptions) {
    checkOptions(options)
    super('schedule', store, options)
    const { random = systemRandom } = options
    this.#store = store
    this.#options = options
    this.#random = guardRandom(random, (error) => this.report(error, 'random() failed'))
    this.#table = createTimetable(options, this.#wall())
    this.#lease = createScheduleLease(store, options)
    this.watch(this.#lease)
    this.#keepsTicks = keepsTicks(store, this.#lease, options)
    this.#runner = new TickRunner(this.#lease, options, {
      clock: this.clock,
      wall: () => this.#wall(),
      room: this.#keepsTicks ? roomOf(store.limits) : 0,
      plan: this.#table.plan,
      report: this.report,
    })
  }

  /** @internal Where the store keeps no metadata, the lease is released after `atLeastFor`. */
  protected override async end(timeout: number): Promise<void> {
    this.#runner.interrupt(timeout)
    const { operationTimeout } = this.#lease.settings.timeouts
    const held = this.#keepsTicks ? 0 : (this.#options.atLeastFor ?? 0)
    // A store that does not answer must not hold up the end.
    const cancel = this.clock.schedule(timeout + held + 4 * operationTimeout, () => void this.#close())
    await this.running
    cancel()
    await this.#close()
  }

  /** The next tick, and the running and the last run of any instance, from the record. Rejects if it cannot be read. */
  async read(): Promise<ScheduleStatus> {
    const record = await this.#readRecord()
    const { tick, run, last } = fromMetadata(record?.metadata, { leaseName: this.#options.name })
    const isRunning = isLocked(record) && run?.outcome === 'running' && run.owner === record?.owner
    const next = this.#table.next(Math.max(this.#wall(), tick ?? Number.NEGATIVE_INFINITY))
    return {
      next: next === undefined ? undefined : new Date(next),
      running: isRunning ? run : undefined,
      last: isRunning ? last : endedRun(run),
    }
  }

  /** @internal Attends to the ticks. Never rejects: a failure that nobody expects must not end the schedule. */
  protected override async act(): Promise<void> {
    while (!this.stopping.aborted) {
      try {
        await this.#attendToTicks()
      } catch (error) {
        this.report(error, 'it failed, and goes on')
        await this.#pause(LONGEST_PAUSE)
      }
    }
  }

  /** Attends to one tick after the other until it is stopped. */
  async #attendToTicks(): Promise<void> {
    const isSkipping = this.#options.missed !== 'run-once'
    let after = this.#wall()
    const missed = isSkipping ? undefined : this.#table.latest(after)
    if (missed !== undefined) await this.#decide(missed, true)
    while (!this.stopping.aborted) {
      // If the clock was set back, the record knows the ticks that were run already.
      after = Math.min(after, this.#wall())
      const next = this.#table.next(after)
      if (next === undefined) {
        // The wall clock may be ahead, and be set back.
        await this.#pause(LONGEST_SLEEP)
        continue
      }
      if (!(await this.#sleepUntil(next))) continue
      const now = this.#wall()
      const due = Math.max(this.#table.latest(now) ?? next, next)
      if (isSkipping && now - due > this.#lateness) {
        after = due
        continue
      }
      const { last, fate } = await this.#decide(due, false)
      // Skips the ticks that its own work overran.
      after = isSkipping && fate === 'ran' ? Math.max(last, this.#wall()) : last
    }
  }

  /**
   * Attends to a tick until it is decided, or until a later tick is due, which then takes its place. `isCatchUp`: the tick
   * is run only if another tick was run before.
   */
  async #decide(first: number, isCatchUp: boolean): Promise<{ readonly last: number; readonly fate: string }> {
    let due = first
    let isOverrun = false
    while (!this.stopping.aborted) {
      const fate = await this.#try(due, isOverrun, isCatchUp)
      if (fate === 'ran' || fate === 'decided' || fate === 'skipped') return { last: due, fate }
      if (fate === 'overrun') isOverrun = true
      if (!this.#keepsTicks && this.#wall() - first > this.#lateness) break
      await this.#pause(this.#patience)
      const latest = this.#table.latest(this.#wall())
      if (latest === undefined || latest <= due) continue
      due = latest
      isOverrun = false
    }
    return { last: due, fate: 'undecided' }
  }

  /** One attempt. `overrun`: a run is in progress that was for an earlier tick. */
  async #try(due: number, isOverrun: boolean, isCatchUp: boolean): Promise<TickFate | 'overrun' | 'unknown'> {
    try {
      const fate = await (this.#keepsTicks ? this.#lookAndRun(due, isOverrun, isCatchUp) : this.#runner.run(due, false))
      this.outage.onAnswer()
      return fate === 'refused' && !this.#keepsTicks ? 'decided' : fate
    } catch (error) {
      if (!this.stopping.aborted) this.outage.onFailure('a tick could not be looked at', error)
      return 'unknown'
    }
  }

  async #lookAndRun(due: number, isOverrun: boolean, isCatchUp: boolean): Promise<TickFate | 'overrun' | 'unknown'> {
    const record = await this.#readRecord()
    const found = fromMetadata(record?.metadata, { leaseName: this.#options.name })
    const { tick, run } = found
    this.#noticeOtherPlan(found)
    if (tick === undefined ? isCatchUp : tick >= due) return 'decided'
    if (isLocked(record)) return run?.outcome === 'running' ? 'overrun' : 'refused'
    if (this.stopping.aborted) return 'unknown'
    return await this.#runner.run(due, isOverrun && this.#options.missed !== 'run-once')
  }

  /** Resolves with whether the instant has come, by the wall clock; `false` also if that was set back. */
  async #sleepUntil(instant: number): Promise<boolean> {
    let latest = this.#wall()
    for (let now = latest; now < instant; now = this.#wall()) {
      if (now < latest - SMALLEST_STEP) return false
      latest = Math.max(latest, now)
      await this.#pause(Math.min(Math.ceil(instant - now), LONGEST_SLEEP))
      if (this.stopping.aborted) return false
    }
    return true
  }

  /** A grant that could not be released expires. */
  async #close(): Promise<void> {
    await this.#lease.close().catch((error: unknown) => this.report(error, 'the lease could not be released'))
  }

  #readRecord(): Promise<LeaseRecord | undefined> {
    const { operationTimeout } = this.#lease.settings.timeouts
    return readLease(this.#store, this.#options.name, { timeout: operationTimeout, clock: this.clock })
  }

  /** Waits. Ends early when the schedule is stopped. */
  async #pause(duration: number): Promise<void> {
    await pauseUntil(this.clock, duration, this.stopping)
  }

  /** The pause before an undecided tick is looked at again, with jitter. */
  get #patience(): number {
    const { heartbeatTimeout } = this.#lease.settings.timeouts
    return Math.min(heartbeatTimeout / LOOKS_PER_TTL, LONGEST_PAUSE) * (0.5 + this.#random())
  }

  /** If an instance begins to attend to a tick later than this, the tick was missed. */
  get #lateness(): number {
    if (!this.#keepsTicks) return LATENESS_WITHOUT_RECORD
    return Math.min(this.#lease.settings.timeouts.heartbeatTimeout, LONGEST_LATENESS)
  }

  /** The wall clock; that of the machine if the one of the user fails. */
  #wall(): number {
    const { now } = this.#options
    if (now === undefined) return wallTime()
    const onFailed = (error: unknown): void => this.report(error, 'now() failed')
    const date = readGuarded(now, onFailed)
    const instant = readGuarded(() => (date as Date).getTime(), onFailed)
    if (typeof instant === 'number' && Math.abs(instant) <= LAST_INSTANT) return instant
    this.report(new Error('now() returned an invalid date'), 'now() failed')
    return wallTime()
  }

  /** Reports once that an instance with another plan runs the schedule. */
  #noticeOtherPlan({ tick = Number.NEGATIVE_INFINITY, plan }: ScheduleRecord): void {
    this.#firstTick ??= tick
    if (this.#hasReportedPlan || tick === this.#firstTick || plan === undefined || plan === this.#table.plan) return
    this.#hasReportedPlan = true
    const { name } = this.#options
    const message =
      `schedule '${name}': another instance runs it with '${plan}', and this one has '${this.#table.plan}'. If no deployment ` +
      'is under way, give one of the two schedules another name'
    logSafely(this.logger, 'warn', message)
    this.emit('differs', plan)
  }
}
