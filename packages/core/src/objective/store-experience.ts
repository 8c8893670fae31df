import { DurationHistogram, upperCount } from './duration-histogram.js'

/** The outcome of an attempt at a heartbeat. */
export interface HeartbeatAttempt {
  /** Until the answer, or until the attempt failed; in milliseconds. */
  readonly latency: number
  /** `slow`: no answer within its time limit. `failed`: an error came before. */
  readonly outcome: 'answered' | 'slow' | 'failed'
}

/** With fewer attempts than this, nothing is forecast. */
export const LEAST_ATTEMPTS = 30

/** How many repetitions are counted, each number by itself. */
const REPETITIONS = 32

/** What is seen loses half of its weight in this time, in milliseconds: 90 days. */
const HALF_LIFE = 90 * 86_400_000

/**
 * The observations of the leases of one store: the times and failures of their heartbeats, how late the event loop sent them, and
 * how long the store was silent. A fixed size of a few kilobytes, whatever the number of leases. Durations in milliseconds.
 */
export class StoreExperience {
  /** The answers to heartbeats that followed a confirmed one. Repetitions would show the store at its worst only. */
  readonly answers = new DurationHistogram()
  /** The time limits of such heartbeats that had no answer within them. */
  readonly slow = new DurationHistogram()
  /** How late heartbeats were sent: the event loop was blocked. */
  readonly lateness = new DurationHistogram()
  /** For how long no heartbeat of a lease was confirmed, where more than one failed in a row, or the lease was lost. */
  readonly silences = new DurationHistogram()
  /** The silences that were to be expected if each heartbeat failed by itself. */
  readonly chanceSilences = new DurationHistogram()
  /** How many runs of failures had a repetition with this number. */
  readonly #reached = new Float64Array(REPETITIONS)
  #failed = 0
  #failedTime = 0
  #observed = 0
  #fadedAt: number | undefined

  /** How many heartbeats were seen that followed a confirmed one. */
  get attempts(): number {
    return this.answers.count + this.slow.count + this.#failed
  }

  /** For how long leases were held meanwhile, summed up. */
  get observed(): number {
    return this.#observed
  }

  /** The part of the heartbeats that fail by an error. `deviations`: as of `slowerPart`. */
  failedPart(deviations = 0): number {
    return this.attempts === 0 ? 0 : Math.min(upperCount(this.#failed, deviations) / this.attempts, 1)
  }

  /** How long a heartbeat takes that fails by an error. */
  get failedTime(): number {
    return this.#failed === 0 ? 0 : this.#failedTime / this.#failed
  }

  /** The part of the failures that are no errors, but silence. */
  get slowShare(): number {
    const failures = this.slow.count + this.#failed
    return failures === 0 ? 1 : this.slow.count / failures
  }

  /** A heartbeat that followed a confirmed one. */
  addAttempt({ latency, outcome }: HeartbeatAttempt): void {
    if (outcome === 'answered') this.answers.add(latency)
    else if (outcome === 'slow') this.slow.add(latency)
    else {
      this.#failed += 1
      this.#failedTime += latency
    }
  }

  /**
   * A repetition was sent: the first one has the number 1. It may take as long as `limit`. `silence`: how long the silence will
   * seem if it fails and the next one is confirmed.
   */
  addRepetition(number: number, silence: number, limit: number): void {
    const place = Math.min(number, REPETITIONS - 1)
    const reached = (this.#reached[place] ?? 0) + 1
    this.#reached[place] = reached
    // How many runs of failures would have become this long if each request failed independently.
    const chance = this.failureChance(limit)
    const byChance = Math.min(((this.#reached[1] ?? 0) * chance ** (number - 1)) / reached, 1)
    this.chanceSilences.add(silence, byChance * chance)
  }

  /** A lease was held for so long. */
  addHeld(duration: number): void {
    this.#observed += duration
  }

  /** The chance that a heartbeat that follows a confirmed one is not confirmed within this time. */
  failureChance(limit: number): number {
    return Math.min(this.slowerPart(limit) + this.failedPart(), 1)
  }

  /**
   * The part of the heartbeats that have no answer, and no error, within this time. `deviations`: how many standard deviations
   * are added for what the observations leave open.
   */
  slowerPart(limit: number, deviations = 0): number {
    const { attempts } = this
    if (attempts === 0) return 0
    const slower = this.answers.exceeding(limit, deviations) + this.#silentPast(limit, deviations)
    return Math.min(slower / attempts, 1)
  }

  /** Of the heartbeats without an answer within their limit, those without one within this time. Longer times are guessed. */
  #silentPast(limit: number, deviations: number): number {
    const { slow } = this
    if (slow.count === 0) return 0
    let silent = 0
    for (const [given, weight] of slow.from(0)) silent += weight * Math.min(given / limit, 1)
    return silent * (upperCount(slow.count, deviations) / slow.count)
  }

  /** The round trip that the given part (from 0 to 1) of all heartbeats did not exceed. */
  roundTrip(part: number): number {
    const { attempts, answers } = this
    const slower = (1 - part) * attempts - this.slow.count
    if (slower > 0) return answers.exceededBy(Math.min(slower, answers.count))
    return Math.max(answers.exceededBy(Math.min(1, answers.count)), this.slow.quantile(0.5))
  }

  /** What was seen before counts the less the older it is. */
  fadeTo(now: number): void {
    const factor = 2 ** (-(now - (this.#fadedAt ?? now)) / HALF_LIFE)
    this.#fadedAt = now
    if (!(factor < 1)) return
    const all = [this.answers, this.slow, this.lateness, this.silences, this.chanceSilences]
    for (const histogram of all) histogram.fade(factor)
    for (const [number, count] of this.#reached.entries()) this.#reached[number] = count * factor
    this.#failed *= factor
    this.#failedTime *= factor
    this.#observed *= factor
  }
}
