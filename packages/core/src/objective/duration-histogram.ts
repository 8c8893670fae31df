/** The lower end of the first bucket, in milliseconds. Shorter durations are in it too. */
const LEAST = 0.05

/** How many buckets a doubling of the duration has: each is 9 % wider than the one before. */
const PER_OCTAVE = 8

/** The last bucket begins at 15 hours. */
const BUCKETS = 240

/** The durations from one on, and with which power of it their number falls. */
interface Tail {
  readonly from: number
  readonly exponent: number
}

/** By how much a number of durations falls: the logarithm of the factor, and the standard deviation of its estimate. */
interface Fall {
  readonly logarithm: number
  readonly deviation: number
}

/**
 * The upper bound of the mean of which `counted` independent events were seen: `deviations` standard deviations above it. `fall`:
 * by how much the count falls beyond the part that was seen.
 */
export function upperCount(counted: number, deviations: number, fall: Fall = noFall): number {
  // A part of a duration, such as one that has faded, is as uncertain as a whole one.
  const deviationOfCount = 1 / Math.sqrt(Math.max(counted, 1))
  const deviation = Math.hypot(deviationOfCount, fall.deviation)
  const most = counted * Math.exp(deviations * deviationOfCount)
  return Math.min(counted * Math.exp(deviations * deviation - fall.logarithm), most)
}

const noFall: Fall = { logarithm: 0, deviation: 0 }

/** If fewer durations than this exceed a value, their number is estimated from the durations below it. */
const LEAST_EXCEEDING = 8

/** From this many of the longest durations the tail is estimated. */
const TAIL = 24

/**
 * How often each duration was seen, in buckets of logarithmic width: 2 KB, however many durations there are. Durations in
 * milliseconds.
 */
export class DurationHistogram {
  readonly #weights = new Float64Array(BUCKETS)
  #count = 0
  /** For each bucket, the weight of it and of all above; built when it is asked for. */
  #above: Float64Array | undefined
  /** The longest durations, from which the tail is continued; found when they are asked for. */
  #tail: Tail | undefined

  /** How many durations were added, by their weights. */
  get count(): number {
    return this.#count
  }

  add(duration: number, weight = 1): void {
    if (!(duration >= 0)) return
    const bucket = bucketOf(duration)
    this.#weights[bucket] = (this.#weights[bucket] ?? 0) + weight
    this.#count += weight
    this.#above = undefined
    this.#tail = undefined
  }

  /** Weighs all that was added until now by `factor`, so that what is old counts less. */
  fade(factor: number): void {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) this.#weights[bucket] = (this.#weights[bucket] ?? 0) * factor
    this.#count *= factor
    this.#above = undefined
    this.#tail = undefined
  }

  /** How many of the durations that were added exceed this one. */
  above(duration: number): number {
    const place = placeOf(duration)
    const bucket = Math.min(Math.max(Math.floor(place), 0), BUCKETS - 1)
    const within = Math.min(Math.max(place - bucket, 0), 1)
    const sums = this.#sums()
    return (sums[bucket + 1] ?? 0) + (1 - within) * (this.#weights[bucket] ?? 0)
  }

  /**
   * How many of the recorded durations are expected to exceed this one. Where few or none did, the tail of the shorter ones
   * is continued: it falls as a power of the duration (Hill's estimate of the exponent). `deviations`: how many standard
   * deviations are added for what such a number leaves open.
   */
  exceeding(duration: number, deviations = 0): number {
    const seen = this.above(duration)
    if (seen >= LEAST_EXCEEDING || this.#count < 2 * LEAST_EXCEEDING) return upperCount(seen, deviations)
    const { from, exponent } = this.#longest()
    if (from >= duration) return upperCount(seen, deviations)
    return upperCount(this.above(from), deviations, this.#fall(from, duration, exponent))
  }

  #longest(): Tail {
    if (this.#tail !== undefined) return this.#tail
    const from = this.exceededBy(Math.min(TAIL, this.#count / 2))
    this.#tail = { from, exponent: this.tailExponent(from) }
    return this.#tail
  }

  /** How the number of durations falls from one that was seen to a longer one. `assumed`: as of `tailExponent`. */
  fallFrom(from: number, duration: number, assumed?: number): Fall {
    return this.#fall(from, duration, this.tailExponent(from, assumed), assumed === undefined ? 0 : ASSUMED)
  }

  #fall(from: number, duration: number, exponent: number, assumed = 0): Fall {
    const known = this.above(from) + assumed
    const logarithm = Math.log(duration / from) * exponent
    return { logarithm, deviation: logarithm / Math.sqrt(known) }
  }

  /** The duration that this many of those that were added exceed. */
  exceededBy(weight: number): number {
    const sums = this.#sums()
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket -= 1) {
      if ((sums[bucket] ?? 0) < weight) continue
      const own = this.#weights[bucket] ?? 0
      const within = own > 0 ? 1 - (weight - (sums[bucket + 1] ?? 0)) / own : 0
      return LEAST * 2 ** ((bucket + Math.min(Math.max(within, 0), 1)) / PER_OCTAVE)
    }
    return 0
  }

  /** The duration that the given part (from 0 to 1) of those added did not exceed; 0 where none was added. */
  quantile(part: number): number {
    return this.#count === 0 ? 0 : this.exceededBy((1 - part) * this.#count)
  }

  /**
   * With which power of the duration the number of those that exceed it falls, from this duration on. `assumed`: the power
   * that is assumed of few durations; it counts as much as `ASSUMED` of them.
   */
  tailExponent(from: number, assumed?: number): number {
    let weight = assumed === undefined ? 0 : ASSUMED
    let logs = assumed === undefined ? 0 : ASSUMED / assumed
    for (let bucket = Math.max(Math.floor(placeOf(from)), 0); bucket < BUCKETS; bucket += 1) {
      const middle = LEAST * 2 ** ((bucket + 0.5) / PER_OCTAVE)
      const own = this.#weights[bucket] ?? 0
      if (own === 0 || middle <= from) continue
      weight += own
      logs += own * Math.log(middle / from)
    }
    // All are in the bucket of `from`: the tail ends there.
    return weight === 0 ? STEEPEST : Math.min(weight / logs, STEEPEST)
  }

  /** The durations from `from` on: the middle of each bucket, and its weight. */
  *from(from: number): Generator<readonly [duration: number, weight: number]> {
    for (let bucket = Math.max(Math.floor(placeOf(from)), 0); bucket < BUCKETS; bucket += 1) {
      const weight = this.#weights[bucket] ?? 0
      if (weight > 0) yield [LEAST * 2 ** ((bucket + 0.5) / PER_OCTAVE), weight]
    }
  }

  #sums(): Float64Array {
    if (this.#above !== undefined) return this.#above
    const sums = new Float64Array(BUCKETS + 1)
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket -= 1) {
      sums[bucket] = (sums[bucket + 1] ?? 0) + (this.#weights[bucket] ?? 0)
    }
    this.#above = sums
    return sums
  }
}

const ASSUMED = 1

/** The largest exponent that buckets of this width can show. */
const STEEPEST = 24

/** The position of a duration among the buckets; its whole part is the number of the bucket. */
function placeOf(duration: number): number {
  return Math.log2(Math.max(duration, LEAST) / LEAST) * PER_OCTAVE
}

function bucketOf(duration: number): number {
  return Math.min(Math.floor(placeOf(duration)), BUCKETS - 1)
}
