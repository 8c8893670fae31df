import type { LeaseObjective } from '../settings/lease-objective.js'
import { startingTimes } from '../settings/lease-objective.js'
import type { StoreLimits } from '../store/lease-store.js'
import type { Chosen, DurationAdvice } from './duration-advice.js'
import { forecastLosses, type LeaseTimes } from './loss-forecast.js'
import { LEAST_ATTEMPTS, type StoreExperience } from './store-experience.js'
import { reasonFor } from './unkept-reason.js'

export type TtlLimits = Pick<StoreLimits, 'minTtl' | 'maxTtl' | 'observed' | 'frees'>

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

/** The pauses between two attempts, as a part of them. */
const PAUSES = 1.1

/** A forecast below this part of the objective is good enough: then fewer heartbeats count for more. */
const GOOD_ENOUGH = 0.1

/** Durations are chosen for a reaction that takes this many times as long as the measured one, so that they last. */
const MARGIN = 1.1

/** How long after the expiry of a record a waiter asks again, in milliseconds. */
const AFTER_EXPIRY = 5

/** The longest pause between two looks of a waiter that has to observe the record, in milliseconds. */
const LONGEST_POLL = 5_000

/**
 * The durations whose fail-over is as long as the objective allows and that lose the fewest leases by mistake; of those that
 * lose less than a tenth of what is allowed, the ones with the fewest heartbeats. `reserveOf`: how much earlier the validity
 * of a ttl ends than usual.
 */
export function chooseDurations(
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits = anyTtl,
  reserveOf: (ttl: number) => number = () => 0,
): DurationAdvice {
  if (experience.attempts < LEAST_ATTEMPTS) return startingAdvice(objective, experience, limits)
  const best = bestOf(objective, experience, limits, reserveOf)
  return adviceFrom(best, objective, experience, limits, reserveOf)
}

/** Other durations are chosen if they lose less than this part of the leases. */
const BETTER = 0.5

/** Other durations are chosen if their ttl is longer by this part: the objective allows it. */
const LONGER_TTL = 0.05

/**
 * The advice for durations that are used already: to keep them, unless others are clearly better from what is known now.
 */
export function reviseDurations(
  times: LeaseTimes,
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits = anyTtl,
  reserveOf: (ttl: number) => number = () => 0,
): DurationAdvice {
  const present = judgeDurations(times, objective, experience, limits, reserveOf)
  if (present.forecast === undefined) return present
  const best = chooseDurations(objective, experience, limits, reserveOf)
  if (present.failover > objective.failover + 1 && best.failover < present.failover) return best
  if (best.heartbeatTimeout > (1 + LONGER_TTL) * times.heartbeatTimeout) return best
  const isGood = present.kept && present.forecast <= GOOD_ENOUGH * objective.falseLossesPerYear
  const isBetter = best.forecast !== undefined && best.forecast < BETTER * present.forecast
  return !isGood && isBetter ? untried(best, present, objective) : present
}

/**
 * The advice to change to other durations that are expected to lose fewer leases. Observations with the present
 * durations say less about others: until those were tried, half of the gain (in orders of magnitude) counts.
 */
function untried(
  best: DurationAdvice,
  present: DurationAdvice,
  { falseLossesPerYear }: LeaseObjective,
): DurationAdvice {
  const forecast = Math.sqrt((best.forecast ?? 0) * (present.forecast ?? 0))
  const kept = best.kept && forecast <= falseLossesPerYear
  return { ...best, forecast, kept, reason: kept ? undefined : (best.reason ?? present.reason) }
}

/** The advice for durations that are used already, from what is known now. */
export function judgeDurations(
  times: LeaseTimes,
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits = anyTtl,
  reserveOf: (ttl: number) => number = () => 0,
): DurationAdvice {
  if (experience.attempts < LEAST_ATTEMPTS) return startingAdvice(objective, experience, limits)
  const losses = forecastLosses(times, experience, reserveOf(times.heartbeatTimeout))
  const failover = failoverOf(times, experience, limits)
  return adviceFrom({ ...times, losses, failover }, objective, experience, limits, reserveOf)
}

function adviceFrom(
  chosen: Chosen,
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits,
  reserveOf: (ttl: number) => number,
): DurationAdvice {
  const { losses, failover, heartbeatTimeout, heartbeatInterval, operationTimeout } = chosen
  const kept = isKept(chosen, objective)
  const needed = kept ? undefined : neededFailover(objective, experience, limits, reserveOf)
  const reason = kept ? undefined : reasonFor(chosen, objective, experience, needed)
  return { kept, forecast: losses.total, failover, heartbeatTimeout, heartbeatInterval, operationTimeout, reason }
}

function isKept({ losses, failover }: Chosen, objective: LeaseObjective): boolean {
  // The ttl is in whole milliseconds.
  return losses.total <= objective.falseLossesPerYear && failover <= objective.failover + 1
}

function startingAdvice(objective: LeaseObjective, { attempts }: StoreExperience, limits: TtlLimits): DurationAdvice {
  const start = startingTimes(objective)
  const heartbeatTimeout = within(start.heartbeatTimeout, limits)
  const scale = heartbeatTimeout / start.heartbeatTimeout
  const heartbeatInterval = Math.floor(start.heartbeatInterval * scale)
  const operationTimeout = Math.floor(start.operationTimeout * scale)
  const reason = `too little is known for a forecast: ${Math.floor(attempts)} of ${LEAST_ATTEMPTS} heartbeats`
  const failover = heartbeatTimeout + objective.failover - start.heartbeatTimeout
  const durations = { heartbeatTimeout, heartbeatInterval, operationTimeout }
  return { kept: true, forecast: undefined, failover, ...durations, reason }
}

function bestOf(
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits,
  reserveOf: (ttl: number) => number,
): Chosen {
  let best: Chosen | undefined
  const enough = objective.falseLossesPerYear * GOOD_ENOUGH
  for (const times of candidates(objective, experience, limits)) {
    const losses = forecastLosses(times, experience, reserveOf(times.heartbeatTimeout))
    // The candidates come in the order of their traffic.
    if (best !== undefined && losses.total >= best.losses.total) continue
    best = { ...times, losses, failover: failoverOf(times, experience, limits) }
    if (losses.total <= enough) break
  }
  if (best === undefined) throw new RangeError('no durations were considered')
  return best
}

function* candidates(
  { failover }: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits,
): Generator<LeaseTimes> {
  const least = Math.max(ROOM_FOR_SLOW * experience.roundTrip(0.99), LEAST_LIMIT)
  for (const part of INTERVALS) {
    const heartbeatTimeout = longestTtl(failover, part, experience, limits)
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

/** The longest ttl whose fail-over is within the bound, or the shortest that the store accepts. */
function longestTtl(failover: number, part: number, experience: StoreExperience, limits: TtlLimits): number {
  const { ttls, extra } = limits.frees ?? { ttls: 1, extra: 0 }
  const room = failover - MARGIN * reactionOf(experience) - extra
  const polled = limits.observed === true ? part : 0
  const shortPolls = room / (ttls + polled)
  const ttl = part * shortPolls > LONGEST_POLL && polled > 0 ? (room - LONGEST_POLL) / ttls : shortPolls
  return within(Math.floor(ttl), limits)
}

function within(ttl: number, { minTtl, maxTtl }: TtlLimits): number {
  return Math.min(Math.max(ttl, Math.ceil(minTtl), LEAST_TTL), maxTtl)
}

/** How long after the death of a holder the next one is expected to hold the lease. */
function failoverOf(times: LeaseTimes, experience: StoreExperience, limits: TtlLimits): number {
  const { ttls, extra } = limits.frees ?? { ttls: 1, extra: 0 }
  const poll = limits.observed === true ? Math.min(times.heartbeatInterval, LONGEST_POLL) : 0
  return ttls * times.heartbeatTimeout + extra + poll + reactionOf(experience)
}

/** The last heartbeat of the dead holder may be under way, and then the claim of the next one. */
function reactionOf(experience: StoreExperience): number {
  return 2 * experience.roundTrip(0.99) + AFTER_EXPIRY
}

/** How much longer the next fail-over that is tried is, and how many are tried: up to 250 times as long. */
const LONGER = 1.2
const LONGEST_SEARCH = 30

/** The shortest fail-over that is found to keep the false losses; `undefined` if none does. */
function neededFailover(
  objective: LeaseObjective,
  experience: StoreExperience,
  limits: TtlLimits,
  reserveOf: (ttl: number) => number,
): number | undefined {
  let failover = objective.failover * LONGER
  for (let tries = 0; tries < LONGEST_SEARCH; tries += 1) {
    const longer = { ...objective, failover }
    if (isKept(bestOf(longer, experience, limits, reserveOf), longer)) return failover
    failover *= LONGER
  }
  return undefined
}
