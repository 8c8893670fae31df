import type { LeaseObjective } from '../settings/lease-objective.js'
import { startingTimes } from '../settings/lease-objective.js'
import type { StoreLimits } from '../store/lease-store.js'
import type { Chosen, DurationAdvice, Judged } from './duration-advice.js'
import { forecastLosses, type LeaseTimes, upperForecast } from './loss-forecast.js'
import { LEAST_ATTEMPTS, type StoreExperience } from './store-experience.js'
import { reasonFor } from './unkept-reason.js'

type TtlLimits = Pick<StoreLimits, 'minTtl' | 'maxTtl' | 'observed' | 'frees'>

/** What durations are chosen for. */
export interface PlannedLease {
  readonly objective: LeaseObjective
  /** Those of the store, or narrower ones: any ttl of 100 ms or more unless given. */
  readonly limits?: TtlLimits | undefined
  /** How much earlier the validity of a ttl ends than usual, in milliseconds: no earlier unless given. */
  readonly reserveOf?: ((ttl: number) => number) | undefined
}

/** The least ttl of any lease, in milliseconds. */
const LEAST_TTL = 100
const anyTtl: TtlLimits = { minTtl: LEAST_TTL, maxTtl: Number.POSITIVE_INFINITY }

/** The intervals that are considered, as parts of the ttl; the ones with the least traffic first. */
const INTERVALS: readonly number[] = [0.3, 0.25, 0.2, 0.16, 0.125, 0.1]

/** How many attempts without an answer the room after the first heartbeat has, for each time limit that is considered. */
const ATTEMPTS: readonly number[] = [2, 3, 4, 6, 8, 12]

/** A time limit leaves room for this many round trips of the slowest in a hundred, and for a pause of the event loop. */
const ROOM_FOR_SLOW = 1.5
const LEAST_LIMIT = 20

/**
 * A ttl takes at least as many round trips of the slowest in a hundred: a shorter one could not be renewed. A failover that needs a
 * shorter one is not kept.
 */
const LEAST_ROUND_TRIPS = 3

/** The pauses between two attempts, as a part of them. */
const PAUSES = 1.1

/** A forecast below this part of the objective is good enough: then fewer heartbeats count for more. */
const GOOD_ENOUGH = 0.1

/** Durations are chosen for a reaction that takes this many times as long as the measured one, so that they last. */
const MARGIN = 1.1

/** Other durations are chosen if they lose less than this part of the leases. */
const BETTER = 0.5

/** Other durations are chosen if their ttl is longer by this part: the objective allows it. */
const LONGER_TTL = 0.05

/**
 * An objective is missed if there are more than twice as many losses as it allows: forecasts are not more exact than that. It
 * counts as kept only if a miss can be excluded with a confidence of 95 %.
 */
const MISSED = 2

/** The steps between the longer failovers that are tried, and how many there are: up to 250 times as long. */
const LONGER = 1.2
const LONGEST_STEPS = 30

/** How long after the expiry of a record a waiter asks again, in milliseconds. */
const AFTER_EXPIRY = 5

/** The longest pause between two looks of a waiter that has to observe the record, in milliseconds. */
const LONGEST_POLL = 5_000

/** Chooses durations for an objective from what is known of a store, and judges durations that are used. */
export class DurationChoice {
  readonly #objective: LeaseObjective
  readonly #limits: TtlLimits
  readonly #reserveOf: (ttl: number) => number
  readonly #experience: StoreExperience

  constructor({ objective, limits = anyTtl, reserveOf = () => 0 }: PlannedLease, experience: StoreExperience) {
    this.#objective = objective
    this.#limits = limits
    this.#reserveOf = reserveOf
    this.#experience = experience
  }

  /**
   * The durations whose failover is as long as the objective allows and that lose the fewest leases by mistake; of those that
   * lose less than a tenth of what is allowed, the ones with the fewest heartbeats.
   */
  choose(): DurationAdvice {
    if (this.#knowsLittle) return this.#startingAdvice()
    return this.#adviceFrom(this.#best(this.#objective))
  }

  /** The advice for durations that are used already, from what is known now. */
  judge(times: LeaseTimes): DurationAdvice {
    return this.#knowsLittle ? this.#startingAdvice() : this.#adviceFrom(this.#chosen(times))
  }

  /** The advice for durations that are used already: to keep them, unless others are clearly better from what is known now. */
  revise(times: LeaseTimes): DurationAdvice {
    const present = this.judge(times)
    if (present.forecast === undefined) return present
    const { failover, falseLossesPerYear } = this.#objective
    const best = this.choose()
    if (present.failover > failover + 1 && best.failover < present.failover) return best
    // All of the failover is used before an objective is given up.
    const least = present.kept ? 1 + LONGER_TTL : 1
    if (best.heartbeatTimeout > least * times.heartbeatTimeout) return best
    const isGood = present.kept && present.forecast <= GOOD_ENOUGH * falseLossesPerYear
    const isBetter = best.forecast !== undefined && best.forecast < BETTER * present.forecast
    return !isGood && isBetter ? this.#untried(best, present) : present
  }

  /**
   * The advice to change to other durations that are expected to lose fewer leases. Observations with the present
   * durations say less about others: until those were tried, half of the gain (in orders of magnitude) counts.
   */
  #untried(best: DurationAdvice, present: DurationAdvice): DurationAdvice {
    const forecast = Math.sqrt((best.forecast ?? 0) * (present.forecast ?? 0))
    const upperForecast = Math.sqrt((best.upperForecast ?? 0) * (present.upperForecast ?? 0))
    const kept = best.kept && isWithin(forecast, upperForecast, this.#objective)
    return { ...best, forecast, upperForecast, kept, reason: kept ? undefined : (best.reason ?? present.reason) }
  }

  get #knowsLittle(): boolean {
    return this.#experience.attempts < LEAST_ATTEMPTS
  }

  #startingAdvice(): DurationAdvice {
    const start = startingTimes(this.#objective)
    const heartbeatTimeout = within(start.heartbeatTimeout, this.#limits)
    const scale = heartbeatTimeout / start.heartbeatTimeout
    const known = Math.floor(this.#experience.attempts)
    return {
      kept: true,
      forecast: undefined,
      upperForecast: undefined,
      failover: heartbeatTimeout + this.#objective.failover - start.heartbeatTimeout,
      heartbeatTimeout,
      heartbeatInterval: Math.floor(start.heartbeatInterval * scale),
      operationTimeout: Math.floor(start.operationTimeout * scale),
      reason: `too little is known for a forecast: ${known} of ${LEAST_ATTEMPTS} heartbeats`,
    }
  }

  #adviceFrom(chosen: Chosen): DurationAdvice {
    const { losses, failover, heartbeatTimeout, heartbeatInterval, operationTimeout } = chosen
    const upperForecast = this.#upperForecast(chosen)
    const kept = isKept({ ...chosen, upperForecast }, this.#objective)
    const reason = kept
      ? undefined
      : reasonFor({ ...chosen, upperForecast }, this.#objective, this.#experience, this.#neededFailover())
    const times = { heartbeatTimeout, heartbeatInterval, operationTimeout }
    return { kept, forecast: losses.total, upperForecast, failover, ...times, reason }
  }

  #chosen(times: LeaseTimes): Chosen {
    const losses = forecastLosses(times, this.#experience, this.#reserveOf(times.heartbeatTimeout))
    return { ...times, losses, failover: this.#failoverOf(times) }
  }

  #upperForecast(times: LeaseTimes): number {
    return upperForecast(times, this.#experience, this.#reserveOf(times.heartbeatTimeout))
  }

  #best(objective: LeaseObjective): Chosen {
    let best: Chosen | undefined
    const enough = objective.falseLossesPerYear * GOOD_ENOUGH
    for (const times of this.#candidates(objective)) {
      const chosen = this.#chosen(times)
      // The candidates come in the order of their traffic.
      if (best !== undefined && chosen.losses.total >= best.losses.total) continue
      best = chosen
      if (chosen.losses.total <= enough) break
    }
    if (best === undefined) throw new RangeError('no durations were considered')
    return best
  }

  *#candidates({ failover }: LeaseObjective): Generator<LeaseTimes> {
    const least = Math.max(ROOM_FOR_SLOW * this.#experience.roundTrip(0.99), LEAST_LIMIT)
    for (const part of INTERVALS) {
      const heartbeatTimeout = this.#longestTtl(failover, part)
      const heartbeatInterval = Math.max(Math.floor(part * heartbeatTimeout), 1)
      const room = heartbeatTimeout - heartbeatInterval
      // The rule of the interval strategy.
      const most = heartbeatTimeout - 3 * heartbeatInterval - 1
      for (const attempts of ATTEMPTS) {
        const operationTimeout = Math.floor(Math.min(room / (attempts * PAUSES), most, heartbeatInterval))
        if (operationTimeout < 1 || (operationTimeout < least && attempts > 2)) break
        yield { heartbeatTimeout, heartbeatInterval, operationTimeout }
      }
    }
  }

  /** The longest ttl whose failover is within the bound, or the shortest that can be renewed and that the store accepts. */
  #longestTtl(failover: number, part: number): number {
    const { ttls, extra } = this.#limits.frees ?? { ttls: 1, extra: 0 }
    const room = failover - MARGIN * this.#reaction - extra
    const polled = this.#limits.observed === true ? part : 0
    const shortPolls = room / (ttls + polled)
    const ttl = part * shortPolls > LONGEST_POLL && polled > 0 ? (room - LONGEST_POLL) / ttls : shortPolls
    const renewable = LEAST_ROUND_TRIPS * this.#experience.roundTrip(0.99)
    return within(Math.floor(Math.max(ttl, renewable)), this.#limits)
  }

  /** How long after the death of a holder the next one is expected to hold the lease. */
  #failoverOf(times: LeaseTimes): number {
    const { ttls, extra } = this.#limits.frees ?? { ttls: 1, extra: 0 }
    const poll = this.#limits.observed === true ? Math.min(times.heartbeatInterval, LONGEST_POLL) : 0
    return ttls * times.heartbeatTimeout + extra + poll + this.#reaction
  }

  /** The last heartbeat of the dead holder may be under way, and then the claim of the next one. */
  get #reaction(): number {
    return 2 * this.#experience.roundTrip(0.99) + AFTER_EXPIRY
  }

  /** The shortest failover that is found to keep the false losses; `undefined` if none does. Found by bisection. */
  #neededFailover(): number | undefined {
    const longerBy = (steps: number): LeaseObjective => {
      return { ...this.#objective, failover: this.#objective.failover * LONGER ** steps }
    }
    let [short, long] = [0, LONGEST_STEPS]
    if (!this.#canKeep(longerBy(long))) return undefined
    while (long - short > 1) {
      const middle = Math.floor((short + long) / 2)
      if (this.#canKeep(longerBy(middle))) long = middle
      else short = middle
    }
    return longerBy(long).failover
  }

  #canKeep(objective: LeaseObjective): boolean {
    const best = this.#best(objective)
    return isKept({ ...best, upperForecast: this.#upperForecast(best) }, objective)
  }
}

function isKept({ losses, upperForecast, failover }: Judged, objective: LeaseObjective): boolean {
  // The ttl is in whole milliseconds.
  return isWithin(losses.total, upperForecast, objective) && failover <= objective.failover + 1
}

function isWithin(forecast: number, upperForecast: number, { falseLossesPerYear }: LeaseObjective): boolean {
  return forecast <= falseLossesPerYear && upperForecast <= MISSED * falseLossesPerYear
}

function within(ttl: number, { minTtl, maxTtl }: TtlLimits): number {
  return Math.min(Math.max(ttl, Math.ceil(minTtl), LEAST_TTL), maxTtl)
}
