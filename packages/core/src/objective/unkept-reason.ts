import type { LeaseObjective } from '../settings/lease-objective.js'
import { validityOf } from '../time/validity.js'
import type { Judged } from './duration-advice.js'
import type { StoreExperience } from './store-experience.js'

const DAY = 86_400_000

/** Why an objective is not kept, and which failover would keep it. */
export function reasonFor(
  chosen: Judged,
  { failover, falseLossesPerYear }: LeaseObjective,
  experience: StoreExperience,
  needed: number | undefined,
): string {
  const help = needed === undefined ? 'no longer failover would keep it' : helpFor(needed)
  const isTooSlow = chosen.failover > failover + 1
  if (isTooSlow && chosen.losses.total <= falseLossesPerYear) {
    return `a failover takes ${duration(chosen.failover)} with the shortest ttl that the store allows, not ${duration(failover)}: ${help}`
  }
  const isExpected = chosen.losses.total > falseLossesPerYear
  const losses = isExpected ? amount(chosen.losses.total) : `up to ${amount(chosen.upperForecast)}`
  const cost = `${duration(failover)} ${isExpected ? 'would' : 'may'} cost ${losses} false losses a year, not ${amount(falseLossesPerYear)}`
  return `${causeOf(chosen, experience)}: ${cost}; ${help}`
}

function helpFor(needed: number): string {
  return `allow more losses, or a failover of ${duration(needed)}`
}

/** The measurement behind most of the losses. */
function causeOf({ losses, heartbeatTimeout, heartbeatInterval }: Judged, experience: StoreExperience): string {
  const room = Math.max(validityOf(heartbeatTimeout) - heartbeatInterval, 1)
  if (losses.lateness > Math.max(losses.roundTrips, losses.silences)) {
    return `the event loop of this process is late by up to ${duration(experience.lateness.exceededBy(1))}`
  }
  if (losses.silences > losses.roundTrips) {
    const { silences, observed } = experience
    const often = amount(silences.above(room))
    const longest = duration(silences.exceededBy(Math.min(1, silences.count)))
    return `your store was silent for more than ${duration(room)} ${often} times in ${amount(observed / DAY)} days, for ${longest} at most`
  }
  const errors = experience.failedPart()
  if (errors > experience.slowerPart(room / 2)) return `${amount(100 * errors)} % of the requests to your store fail`
  // Requests that reached the time limit were given up, so that their real duration is unknown.
  const least = experience.slow.count > 0.001 * experience.attempts ? 'more than ' : ''
  return `p99.9 of your store is ${least}${duration(experience.roundTrip(0.999))}`
}

/** A duration with a unit and three digits at most. */
function duration(milliseconds: number): string {
  return milliseconds >= 1_000 ? `${amount(milliseconds / 1_000)} s` : `${amount(milliseconds)} ms`
}

/** A number with two digits, or as a whole number. */
function amount(number: number): string {
  if (number >= 1e6) return 'more than a million'
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)))
}
