import { validityOf } from '../time/validity.js'
import { type DurationHistogram, upperCount } from './duration-histogram.js'
import { pauseAfterFailure } from './retry-pause.js'
import type { StoreExperience } from './store-experience.js'

/** The durations of a lease, in milliseconds. */
export interface LeaseTimes {
  readonly heartbeatTimeout: number
  readonly heartbeatInterval: number
  readonly operationTimeout: number
}

/** How many false losses a year are to be expected, by their cause. */
export interface LossForecast {
  readonly total: number
  /** All heartbeats of a validity failed or were slow, each by itself. */
  readonly roundTrips: number
  /** The store was silent for longer than the heartbeats could be repeated. */
  readonly silences: number
  /** The event loop was blocked. */
  readonly lateness: number
}

const YEAR = 365.25 * 86_400_000

/** How much earlier than the interval a heartbeat is sent on average, because of its jitter: half of 5 %. */
const MEAN_JITTER = 0.025

/** What is shorter than this part of the validity does not count as late. */
const LEAST_LATENESS = 0.02

/** With this chance, and a smaller one, it makes no difference whether the next repetition fails. */
const NEGLIGIBLE = 1e-15

/** Into how many instants the forecast divides a validity. */
const STEPS = 1_024

/** Timers that are late by less than this are usual, and say nothing about a blocked loop. Milliseconds. */
const LEAST_STALL = 50

/** If fewer durations than this exceed one, their number is estimated from the shorter ones. */
const ENOUGH = 8

/** The powers with which the numbers of silences, and of late heartbeats, are assumed to fall while few were seen. */
const SILENCES_FALL = 1
const LATENESS_FALLS = 1.5

/** The pauses between repetitions are random: these two numbers stand for all, as in Gauss's quadrature. */
const draws: readonly (() => number)[] = [0.5 - Math.sqrt(1 / 12), 0.5 + Math.sqrt(1 / 12)].map((draw) => () => draw)
const middle = (): number => 0.5

/** So many standard deviations above the forecast, there are more losses only with a chance of 5 %. */
const CONFIDENT = 1.645

/**
 * How many times a year a lease with these durations is lost although its holder and its store live. `reserve`: how much
 * earlier than usual its validity ends, in milliseconds. `deviations`: how many standard deviations are added to each number
 * that was counted, and to each tail that is continued.
 */
export function forecastLosses(
  times: LeaseTimes,
  experience: StoreExperience,
  reserve = 0,
  deviations = 0,
): LossForecast {
  const validity = validityOf(times.heartbeatTimeout) - reserve
  const dueAt = Math.min(times.heartbeatInterval * (1 - MEAN_JITTER), validity)
  const heartbeats = YEAR / dueAt
  const chain = new AttemptChain(times, experience, validity, deviations)
  const roundTrips = heartbeats * chain.lossChance(dueAt)
  const lateness = heartbeats * latenessLosses(experience, chain, { dueAt, validity, deviations })
  const silences = silenceLosses(times, experience, validity - dueAt, deviations)
  return { total: roundTrips + lateness + silences, roundTrips, silences, lateness }
}

/** With a confidence of 95 %, there are not more false losses a year: as far as the causes are known that were seen. */
export function upperForecast(times: LeaseTimes, experience: StoreExperience, reserve = 0): number {
  return forecastLosses(times, experience, reserve, CONFIDENT).total
}

/** The chance of a loss with a heartbeat that is sent late. */
function latenessLosses(
  experience: StoreExperience,
  chain: AttemptChain,
  { dueAt, validity, deviations }: { readonly dueAt: number; readonly validity: number; readonly deviations: number },
): number {
  const { lateness } = experience
  if (lateness.count === 0) return 0
  const room = validity - dueAt
  let losses = continued(lateness, room, LATENESS_FALLS, deviations)
  for (const [late, weight] of lateness.from(LEAST_LATENESS * validity)) {
    if (late < room) losses += weight * chain.lossChance(dueAt + late)
  }
  return losses / lateness.count
}

/** Silences a year that outlast all repetitions. `room`: from the first heartbeat that fails to the end of the validity. */
function silenceLosses(times: LeaseTimes, experience: StoreExperience, room: number, deviations: number): number {
  const { silences, chanceSilences, observed } = experience
  if (observed === 0) return 0
  const duration = lastRepetition(times, experience, room)
  return (Math.max(excess(), 0) / observed) * YEAR

  function excess(): number {
    const seen = silences.above(duration)
    const base = seen >= ENOUGH ? undefined : unexplainedBelow(duration)
    const counted = upperCount(seen, deviations) - chanceSilences.above(duration)
    if (base === undefined) return counted
    const known = silences.above(base)
    const part = (known - chanceSilences.above(base)) / known
    const continued = part * upperCount(known, deviations, silences.fallFrom(base, duration, SILENCES_FALL))
    // Few were counted, or none, by chance; a tail that is continued is too long where silences have a usual length.
    return deviations > 0 ? Math.max(counted, continued) : (Math.max(counted, 0) + continued) / 2
  }

  /** From which silence the tail is continued: the middle one, or a longer one, of those that chance does not explain. */
  function unexplainedBelow(duration: number): number | undefined {
    for (const [silence] of silences.from(0)) {
      if (silence >= duration) return undefined
      const [known, expected] = [silences.above(silence), chanceSilences.above(silence)]
      // Three standard deviations.
      if (known <= expected + 3 * Math.sqrt(expected) + 1) continue
      const base = Math.max(silences.exceededBy(Math.min(ENOUGH, (known - expected) / 2)), silence)
      return base < duration ? base : undefined
    }
    return undefined
  }
}

/** How many durations exceed this one; where few were seen, those that are shorter say how many to expect. */
function continued(durations: DurationHistogram, duration: number, assumed: number, deviations: number): number {
  const seen = durations.above(duration)
  if (seen >= ENOUGH) return upperCount(seen, deviations)
  const base = durations.exceededBy(Math.min(ENOUGH, durations.count / 2))
  if (base >= duration || base < LEAST_STALL) return upperCount(seen, deviations)
  return upperCount(durations.above(base), deviations, durations.fallFrom(base, duration, assumed))
}

/** When, after a heartbeat that failed, the last repetition is sent that can still be confirmed. */
function lastRepetition(times: LeaseTimes, experience: StoreExperience, room: number): number {
  const { heartbeatInterval, operationTimeout } = times
  const usable = room - experience.roundTrip(0.5)
  let silent = 0
  for (let failures = 1; ; failures += 1) {
    const left = room - silent - operationTimeout
    const next = silent + operationTimeout + pauseAfterFailure(heartbeatInterval, failures, left, middle)
    if (left <= 0 || next >= usable) break
    silent = next
  }
  // Errors come soon, so that the last repetition is sent just before the end.
  const share = experience.slowShare
  return Math.max(share * silent + (1 - share) * usable, 1)
}

/** A heartbeat and its repetitions until the end of the validity, where each fails by itself. */
class AttemptChain {
  readonly #times: LeaseTimes
  readonly #experience: StoreExperience
  readonly #validity: number
  readonly #chances = new Map<number, number>()
  readonly #failed: number
  readonly #deviations: number

  constructor(times: LeaseTimes, experience: StoreExperience, validity: number, deviations: number) {
    this.#times = times
    this.#experience = experience
    this.#validity = validity
    this.#failed = experience.failedPart(deviations)
    this.#deviations = deviations
  }

  /** The chance that neither the heartbeat sent at this instant nor a repetition is confirmed in time. */
  lossChance(sentAt: number): number {
    return this.#chance(sentAt, 1, 1)
  }

  #chance(sentAt: number, failures: number, reached: number): number {
    const left = this.#validity - sentAt
    if (left <= 0) return 1
    if (reached < NEGLIGIBLE) return 0
    const key = failures * (STEPS + 1) + Math.floor((sentAt / this.#validity) * STEPS)
    const known = this.#chances.get(key)
    if (known !== undefined) return known
    const limit = Math.min(this.#times.operationTimeout, left)
    const slow = this.#experience.slowerPart(limit, this.#deviations)
    const chance =
      this.#repeated(sentAt + limit, slow, failures, reached) +
      this.#repeated(sentAt + Math.min(this.#experience.failedTime, limit), this.#failed, failures, reached)
    this.#chances.set(key, chance)
    return chance
  }

  #repeated(failedAt: number, part: number, failures: number, reached: number): number {
    if (part === 0) return 0
    const left = this.#validity - failedAt
    if (left <= 0) return part
    let sum = 0
    for (const draw of draws) {
      const pause = pauseAfterFailure(this.#times.heartbeatInterval, failures, left, draw)
      sum += this.#chance(failedAt + pause, failures + 1, reached * part)
    }
    return (part * sum) / draws.length
  }
}
