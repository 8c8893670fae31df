import { HeartbeatLearner } from '../../src/objective/heartbeat-learner.js'
import type { LeaseTimes } from '../../src/objective/loss-forecast.js'
import type { StoreExperience } from '../../src/objective/store-experience.js'
import { partAbove, type Windows, type World } from './world.js'

const DAY = 86_400_000

/** In how many equal parts the answers of skipped heartbeats are learned. */
const QUANTILES = 10_000

/** As `system.now() + validity`. It stands here a second time so that the simulation does not repeat a fault of the forecast. */
const validityOf = (ttl: number): number => 0.99 * ttl - 25

/** By which part of the interval a heartbeat is sent earlier on average, and the mean of the part of a pause that is random. */
const MEAN_JITTER = 0.025
const MEAN_PAUSE = 0.75

/** After how many milliseconds an error comes. */
const ERROR_TIME = 1

/** The losses of a lease within a number of days. */
export interface Losses {
  readonly days: number
  readonly losses: number
}

/** A time in which something is different: one of the `Windows` of the world. */
interface Window {
  readonly of: Windows
  readonly from: number
  readonly to: number
}

/**
 * The life of one lease, heartbeat by heartbeat, with the schedule of the engine: jitter, time limits, pauses that double.
 * Times in which no lease can be lost are skipped. Outside of the windows attempts fail independently. So the number of
 * heartbeats until a run of failures has a geometric distribution. The run is as long as the validity has room for, or one
 * failure where a learner has to see each of them.
 */
export class SimulatedLease {
  readonly #world: World
  readonly #random: () => number
  readonly #times: LeaseTimes
  readonly #learner: HeartbeatLearner | undefined
  readonly #validity: number
  /** The part of all heartbeats that fail by themselves, and those of them that are slow. */
  readonly #slowPart: number
  readonly #failedPart: number
  /** The length of the runs of failures that are simulated, and the part of the heartbeats that begin one. */
  readonly #failures: number
  readonly #failuresPart: number
  /** The mean time between two confirmed heartbeats without such a run, in milliseconds. */
  readonly #cycle: number
  readonly #next: Window[]
  readonly #experience: StoreExperience | undefined
  #skipped = 0
  #now = 0
  #losses = 0
  #held = 0

  constructor(world: World, times: LeaseTimes, random: () => number, experience?: StoreExperience) {
    this.#world = world
    this.#random = random
    this.#experience = experience
    this.#times = times
    this.#learner = experience === undefined ? undefined : new HeartbeatLearner(experience)
    this.#validity = validityOf(times.heartbeatTimeout)
    this.#slowPart = partAbove(world.roundTrip, times.operationTimeout)
    this.#failedPart = world.errors ?? 0
    this.#failures = experience === undefined ? certainAttempts(times) : 1
    this.#failuresPart = (this.#slowPart + this.#failedPart) ** this.#failures
    this.#cycle = this.#meanCycle()
    this.#next = (world.windows ?? []).map((of) => this.#windowAfter(of, 0))
  }

  live(days: number): Losses {
    const end = this.#now + days * DAY
    const before = { losses: this.#losses, held: this.#held }
    this.#learner?.onGranted(this.#now)
    while (this.#now < end) {
      const failures = this.#skip(end)
      if (this.#now >= end) break
      this.#holdOnce(failures)
    }
    this.#learnSkipped()
    return { losses: this.#losses - before.losses, days: (this.#held - before.held) / DAY }
  }

  /** Skips heartbeats without a loss. Returns how many attempts of the next one fail for certain. */
  #skip(end: number): number {
    const quietUntil = Math.min(...this.#next.map(({ from }) => from), end) - 2 * this.#times.heartbeatTimeout
    const free = Math.floor(Math.log(this.#draw()) / Math.log1p(-this.#failuresPart))
    const room = Math.floor((quietUntil - this.#now) / this.#cycle)
    if (room <= 0) return 0
    const skipped = Math.min(free, room)
    this.#now += skipped * this.#cycle
    this.#held += skipped * this.#cycle
    this.#skipped += skipped
    // What is learned from a failure depends on the answers before it.
    if (this.#experience !== undefined && this.#skipped > this.#experience.attempts) this.#learnSkipped()
    this.#learner?.onGranted(this.#now)
    return skipped === free ? this.#failures : 0
  }

  #meanCycle(): number {
    const { heartbeatInterval, operationTimeout } = this.#times
    const part = this.#slowPart + this.#failedPart
    let cycle = heartbeatInterval * (1 - MEAN_JITTER)
    for (let failures = 1; failures < this.#failures; failures += 1) {
      const failing = this.#slowPart * operationTimeout + this.#failedPart * ERROR_TIME
      cycle += part ** (failures - 1) * (failing + part * MEAN_PAUSE * longestPause(heartbeatInterval, failures))
    }
    return cycle
  }

  /** The heartbeats that were skipped had the answers that are to be expected, and were sent in time. */
  #learnSkipped(): void {
    if (this.#experience === undefined) return
    const answered = 1 - this.#slowPart
    const weight = this.#skipped / QUANTILES
    for (let quantile = 0; quantile < QUANTILES; quantile += 1) {
      const part = this.#slowPart + (answered * (quantile + 0.5)) / QUANTILES
      this.#experience.answers.add(this.#world.roundTrip(part), weight)
    }
    this.#experience.lateness.add(0, this.#skipped)
    this.#experience.addHeld(this.#skipped * this.#cycle)
    this.#skipped = 0
  }

  /** Holds the lease until the next confirmed heartbeat, or its loss. The first `forced` attempts fail. */
  #holdOnce(forced: number): void {
    const { heartbeatInterval, operationTimeout } = this.#times
    const confirmedAt = this.#now
    const validUntil = confirmedAt + this.#validity
    let dueAt = confirmedAt + heartbeatInterval * (1 - 2 * MEAN_JITTER * this.#random())
    for (let failures = 1; ; failures += 1) {
      const sentAt = this.#awake(dueAt)
      if (sentAt >= validUntil) {
        this.#lose(confirmedAt, validUntil, dueAt, sentAt)
        return
      }
      const limit = Math.min(operationTimeout, validUntil - sentAt)
      this.#learner?.onSent(dueAt, sentAt, operationTimeout)
      const { isAnswered, isSlow, at } = this.#attempt(sentAt, limit, failures <= forced)
      if (at >= validUntil) {
        this.#learner?.onFailed(sentAt, validUntil, true)
        this.#lose(confirmedAt, validUntil, Number.POSITIVE_INFINITY, at)
        return
      }
      if (isAnswered) {
        this.#learner?.onAnswered(sentAt, at)
        this.#held += sentAt - confirmedAt
        this.#now = sentAt
        return
      }
      this.#learner?.onFailed(sentAt, at, isSlow)
      dueAt = at + this.#pause(failures, validUntil - at)
    }
  }

  #attempt(sentAt: number, limit: number, isForced: boolean) {
    const different = this.#next.map((next) => this.#windowAt(next, sentAt))
    const kinds = different.flatMap((window) => (window === undefined ? [] : [window.of]))
    const slowPart = kinds.find(({ kind }) => kind === 'slow')?.part ?? 0
    const isSilent = kinds.some(({ kind }) => kind === 'silent') || (slowPart > 0 && this.#random() < slowPart)
    if (kinds.some(({ kind }) => kind === 'refused')) return failed(this.#awake(sentAt + ERROR_TIME), false)
    if (isSilent) return failed(this.#awake(sentAt + limit), true)
    const fails = isForced || this.#random() < this.#slowPart + this.#failedPart
    const isError = fails && this.#random() < this.#failedPart / (this.#slowPart + this.#failedPart)
    if (isError) return failed(this.#awake(sentAt + ERROR_TIME), false)
    const latency = this.#world.roundTrip(
      fails ? this.#draw() * this.#slowPart : this.#slowPart + this.#draw() * (1 - this.#slowPart),
    )
    if (latency > limit) return failed(this.#awake(sentAt + limit), true)
    return { isAnswered: true, isSlow: false, at: this.#awake(sentAt + latency) }
  }

  #pause(failures: number, remaining: number): number {
    const longest = longestPause(this.#times.heartbeatInterval, failures, remaining)
    return longest * (1 - 2 * (1 - MEAN_PAUSE) * this.#random())
  }

  /** The instant, or the end of the stall that it is in. */
  #awake(at: number): number {
    for (const next of this.#next) {
      if (next.of.kind !== 'stall') continue
      const window = this.#windowAt(next, at)
      if (window !== undefined) return window.to
    }
    return at
  }

  #lose(confirmedAt: number, validUntil: number, dueAt: number, now: number): void {
    this.#losses += 1
    this.#held += validUntil - confirmedAt
    this.#learner?.onExpired(validUntil, dueAt, now)
    // The next grant begins when all is well again.
    this.#now = Math.max(validUntil, ...this.#next.map((next) => this.#windowAt(next, validUntil)?.to ?? 0)) + 1_000
    this.#learner?.onGranted(this.#now)
  }

  /** The window that this instant is in. Windows that are over are replaced by their next ones. */
  #windowAt(window: Window, at: number): Window | undefined {
    let current = window
    while (at >= current.to + 2 * this.#times.heartbeatTimeout) {
      const next = this.#windowAfter(current.of, current.to)
      this.#next[this.#next.indexOf(current)] = next
      current = next
    }
    return at >= current.from && at < current.to ? current : undefined
  }

  #windowAfter(of: Windows, after: number): Window {
    const from = after - Math.log(this.#draw()) * of.everyDays * DAY
    return { of, from, to: from + of.lasts(this.#draw()) }
  }

  /** Larger than 0. */
  #draw(): number {
    return 1 - this.#random()
  }
}

function failed(at: number, isSlow: boolean) {
  return { isAnswered: false, isSlow, at }
}

/** The longest pause before the repetition with this number. */
function longestPause(heartbeatInterval: number, failures: number, remaining = Number.POSITIVE_INFINITY): number {
  const first = Math.min(Math.max(heartbeatInterval / 50, 10), 1_000)
  const longest = Math.max(Math.min(heartbeatInterval / 2, remaining / 4), 10)
  return Math.min(first * 2 ** (failures - 1), longest)
}

/** How many attempts of a heartbeat have the whole time limit, whatever is drawn: fewer failures lose no lease. */
function certainAttempts({ heartbeatTimeout, heartbeatInterval, operationTimeout }: LeaseTimes): number {
  let attempts = 0
  let sentAt = heartbeatInterval
  while (sentAt + operationTimeout < validityOf(heartbeatTimeout)) {
    attempts += 1
    sentAt += operationTimeout + longestPause(heartbeatInterval, attempts)
  }
  return Math.max(attempts, 1)
}
