import {
  type Health,
  healthOf,
  isLocked,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { Alarm, guardRandom, health, healthFrom, logSafely, roomOf } from '@leasehold/core/internal'
import { systemRandom } from '@leasehold/core/store-kit'
import { type RecipeEvents, StartedRecipe } from '../recipe.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { readWall } from '../wall-clock.js'
import type { SchedulePause } from './control-record.js'
import { publishRun, publishTick } from './published-ticks.js'
import { controlOptionsOf, type PauseOptions, type RunNowOptions, ScheduleControl } from './schedule-control.js'
import { checkOptions, createScheduleLease, keepsTicks, type ScheduleOptions } from './schedule-options.js'
import { fromMetadata, type ScheduledRun, type ScheduleRecord } from './schedule-record.js'
import { type ScheduleStatus, statusOf } from './schedule-status.js'
import { isDecided, type Job, type TickFate, TickRunner } from './tick-runner.js'
import { createTimetable, type Timetable } from './timetable.js'
import { Wishes } from './wishes.js'

/** The events of a `Schedule`, and their arguments. */
export interface ScheduleEvents extends RecipeEvents {
  /**
   * Another instance runs the schedule of this name with another expression, interval, anchor or time zone, which is the
   * argument as a text. Emitted once. It passes with a rolling deployment; otherwise two schedules have the same name.
   */
  differs: [plan: string]
  /** This instance has seen that the schedule is paused, or that its pause was replaced by another one. */
  paused: [pause: SchedulePause]
  /** This instance has seen that the pause has ended. */
  resumed: []
  /** This instance starts the work of a tick, or of a run that was asked for by hand. */
  started: [run: ScheduledRun]
  /** The work has ended here: the outcome, which is recorded next. */
  ended: [run: ScheduledRun]
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
 * while their leases are valid. A run that was asked for by hand follows the same rules, and moves no tick. During a pause,
 * no tick is run, except for one whose holder had asked the store about pauses just before.
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
  /** `undefined` where the store keeps no metadata. */
  readonly #control: ScheduleControl | undefined
  /** Rings when a run by hand is to be attempted. */
  readonly #alarm: Alarm
  readonly #wishes: Wishes
  /** When the last run by hand of this instance was started and was over, by its wall clock. */
  #byHand = { start: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY }
  /** The last tick that this instance came to too late, until it attends to the next one. */
  #missed: number | undefined
  /** The tick that this instance could not decide on so far, and since when, on its clock. */
  #undecided: { readonly due: number; readonly since: number } | undefined
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
      isWanted: (job) => this.#wishes.want(job),
      onStarted: (run) => this.#onStarted(run),
      onEnded: (run) => {
        this.emit('ended', run)
        publishRun(this.#options.name, run)
      },
    })
    this.#alarm = new Alarm(this.clock, this.stopping)
    const controlOptions = { ...controlOptionsOf(options), clock: this.clock, now: () => new Date(this.#wall()) }
    this.#control = this.#keepsTicks ? new ScheduleControl(store, options.name, controlOptions) : undefined
    this.#wishes = new Wishes({
      control: this.#control,
      clock: this.clock,
      random: this.#random,
      wall: () => this.#wall(),
      keepAlive: this.keepAlive,
      outage: this.outage,
      alarm: this.#alarm,
      onPause: (pause) => (pause === undefined ? this.emit('resumed') : this.emit('paused', pause)),
    })
  }

  /**
   * See `healthOf`: unhealthy with its lease, after a tick that this instance came to too late, while a due tick cannot be
   * decided, because the store fails or another holder has the lease, and when the store has failed for longer than a ttl.
   */
  [health](): Health {
    const subject = `schedule '${this.#options.name}'`
    const undecided = this.#undecided
    const isLate = undecided !== undefined && this.clock.now() - undecided.since > this.#lateness
    const [missed, waiting] = [dateText(this.#missed), dateText(isLate ? undecided.due : undefined)]
    const reasons = [
      healthOf(this.#lease).reason,
      missed && `${subject}: this instance came too late to the tick of ${missed}, and left it out`,
      waiting && `${subject}: the tick of ${waiting} is due, and it is not known whether an instance has run it`,
      this.outageAilment(this.#lease.settings.timeouts.heartbeatTimeout),
    ]
    const details = { next: dateText(this.#table.next(this.#wall())), missed, undecided: waiting }
    return healthFrom(
      reasons.find((reason) => reason !== undefined),
      JSON.parse(JSON.stringify(details)),
    )
  }

  /** Pauses the schedule for all instances: see `ScheduleControl.pause`. */
  async pause(options: PauseOptions): Promise<void> {
    await this.#controlled().pause(options)
    await this.#seeOwnChange()
  }

  /** Ends the pause for all instances: see `ScheduleControl.resume`. Resolves with whether the schedule was paused. */
  async resume(): Promise<boolean> {
    const wasPaused = await this.#controlled().resume()
    await this.#seeOwnChange()
    return wasPaused
  }

  /** Asks for one run by hand, on one of the instances that are started: see `ScheduleControl.runNow`. */
  async runNow(options: RunNowOptions = {}): Promise<string> {
    const id = await this.#controlled().runNow(options)
    await this.#seeOwnChange()
    return id
  }

  /**
   * Has all instances skip the tick that is due at this time: a `Date`, or an ISO 8601 text with `Z` or an offset. See
   * `ScheduleControl.skip`; the timetable is that of this instance.
   */
  async skip(tick: Date | string): Promise<void> {
    await this.#controlled().skipIn(this.#table, tick)
    await this.#seeOwnChange()
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
    await endsWithin(this.clock, operationTimeout, this.#wishes.tidied)
  }

  /**
   * The next tick, the running and the last run of any instance, and the wishes of operators, from the records. Rejects if
   * they cannot be read.
   */
  async read(): Promise<ScheduleStatus> {
    if (this.#control !== undefined) return await this.#control.readWith(this.#table)
    const records = { record: await this.#readRecord(), control: undefined }
    return statusOf(this.#options.name, records, this.#wall(), this.#table)
  }

  /** @internal Attends to the ticks. Never rejects: a failure that nobody expects must not end the schedule. */
  protected override async act(): Promise<void> {
    const { heartbeatInterval } = this.#lease.settings.timeouts
    await Promise.all([
      this.#actOn(() => this.#attendToTicks()),
      ...(this.#control === undefined
        ? []
        : [this.#actOn(() => this.#wishes.follow(heartbeatInterval, this.stopping))]),
    ])
  }

  async #actOn(attend: () => Promise<void>): Promise<void> {
    while (!this.stopping.aborted) {
      try {
        await attend()
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
      const isAsked = await this.#runByHand()
      const longest = isAsked ? this.#patience : Number.POSITIVE_INFINITY
      const next = this.#table.next(after)
      if (next === undefined) {
        // The wall clock may be ahead, and be set back.
        await this.#doze(Math.min(LONGEST_SLEEP, longest))
        continue
      }
      if (!(await this.#sleepUntil(next, longest))) continue
      const now = this.#wall()
      const due = Math.max(this.#table.latest(now) ?? next, next)
      if (isSkipping && now - this.#couldRun(due) > this.#lateness) {
        this.#missed = due
        publishTick(this.#lease.settings, due, 'missed')
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
    this.#undecided = { due, since: this.clock.now() }
    while (!this.stopping.aborted) {
      const fate = await this.#try(due, isOverrun, isCatchUp)
      if (fate === 'ran' || fate === 'decided' || fate === 'skipped' || fate === 'withheld') {
        this.#missed = this.#undecided = undefined
        if (fate === 'skipped' || fate === 'withheld') publishTick(this.#lease.settings, due, 'skipped')
        return { last: due, fate }
      }
      if (fate === 'overrun') {
        isOverrun = true
        // The run before takes its time: the tick waits for it.
        this.#undecided = { due, since: this.clock.now() }
      }
      if (!this.#keepsTicks && this.#wall() - first > this.#lateness) break
      await this.#pause(this.#patience)
      const latest = this.#table.latest(this.#wall())
      if (latest === undefined || latest <= due) continue
      due = latest
      isOverrun = false
    }
    this.#undecided = undefined
    return { last: due, fate: 'undecided' }
  }

  /** One attempt. `overrun`: a run is in progress that was for an earlier tick. */
  async #try(due: number, isOverrun: boolean, isCatchUp: boolean): Promise<TickFate | 'overrun' | 'unknown'> {
    try {
      const fate = await (this.#keepsTicks ? this.#lookAndRun(due, isOverrun, isCatchUp) : this.#runner.run({ due }))
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
    // The lease is not asked for if it is likely that operators do not want the tick.
    if (!this.#wishes.admits(due) && !(await this.#wishes.want({ due }))) return 'withheld'
    // A run by hand delays a tick, and does not replace it.
    if (isLocked(record)) return run?.outcome === 'running' && run.byHand === undefined ? 'overrun' : 'refused'
    if (this.stopping.aborted) return 'unknown'
    return await this.#runner.run({ due, isOverrun: isOverrun && this.#options.missed !== 'run-once' })
  }

  /** The instant from which on this instance could attend to a tick: not while it did a run by hand. */
  #couldRun(due: number): number {
    const { start, end } = this.#byHand
    return due >= start && due < end ? end : due
  }

  /** Attempts the runs that were asked for by hand. Resolves with whether one of them is left, and is to be tried again. */
  async #runByHand(): Promise<boolean> {
    for (const request of this.#wishes.requests) {
      const start = this.#wall()
      const fate = await this.#tryByHand({ due: Date.parse(request.at), request })
      if (fate === 'ran') this.#byHand = { start, end: this.#wall() }
      if (fate === 'refused' || fate === 'unknown' || this.stopping.aborted) return true
      this.#wishes.onDecided(request)
    }
    return false
  }

  async #tryByHand(job: Job): Promise<TickFate | 'unknown'> {
    try {
      const record = await this.#readRecord()
      const found = fromMetadata(record?.metadata, { leaseName: this.#options.name })
      this.outage.onAnswer()
      if (isDecided(job, found)) return 'decided'
      if (isLocked(record)) return 'refused'
      return this.stopping.aborted ? 'unknown' : await this.#runner.run(job)
    } catch (error) {
      if (!this.stopping.aborted) this.outage.onFailure('a run by hand could not be looked at', error)
      return 'unknown'
    }
  }

  #onStarted(run: ScheduledRun): void {
    this.emit('started', run)
    // At once, so that the request is not run again even if the record of the schedule is lost.
    if (run.byHand !== undefined) this.#wishes.tidy()
  }

  /** Throws if this schedule cannot be changed. */
  #controlled(): ScheduleControl {
    this.throwIfStopped()
    if (this.#control !== undefined) return this.#control
    const { kind: store = 'custom' } = this.#store
    const message = `the ${store} store keeps no metadata, so the schedule cannot be paused or run by hand: use a store that keeps it`
    throw new LeaseConfigurationError(message, { leaseName: this.#options.name, store })
  }

  /** If that fails, the next look sees the change. */
  async #seeOwnChange(): Promise<void> {
    if (this.running !== undefined) await this.#wishes.look().catch(() => {})
  }

  /**
   * Resolves with whether the instant has come, by the wall clock. `false` also if that was set back, if a run by hand is to
   * be attempted, and after `longest` milliseconds.
   */
  async #sleepUntil(instant: number, longest: number): Promise<boolean> {
    let latest = this.#wall()
    for (let now = latest; now < instant; now = this.#wall()) {
      if (now < latest - SMALLEST_STEP) return false
      latest = Math.max(latest, now)
      const isAsked = await this.#doze(Math.min(Math.ceil(instant - now), LONGEST_SLEEP, longest))
      if (this.stopping.aborted || isAsked) return false
      if (longest < LONGEST_SLEEP) return this.#wall() >= instant
    }
    return true
  }

  /** Waits. Ends early when the schedule is stopped, or a run by hand is to be attempted: then it resolves with `true`. */
  async #doze(duration: number): Promise<boolean> {
    return await this.#alarm.wait(this.clock.now() + duration)
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
    return readWall(this.#options.now, this.report)
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

function dateText(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instant).toISOString()
}
