/** The figures of an advice. Times are seconds; costs are in any unit, the same for all. */
export interface AdviceInput {
  /** The longest step of the work between two checks of the lease. */
  readonly operation: number
  /** The time of a call to the store and its answer. */
  readonly roundTrip: number
  /** Crashes of a holder in an hour. */
  readonly failures: number
  /** The cost of a lease that is lost though its holder was well. */
  readonly lostCost: number
  /** The cost of a second without a holder. */
  readonly downCost: number
  /** The part of the renewals that fail by chance. */
  readonly badLuck: number
}

/** Times are seconds. */
export interface Advice {
  /** The shortest ttl that makes sense, and the longest that is considered. */
  readonly shortest: number
  readonly longest: number
  /** The ttl with the least cost, whatever its bounds; `Infinity` if the time without a holder costs nothing. */
  readonly best: number
  /** The best ttl within the bounds. */
  readonly ttl: number
  /** The part of the ttl after which it is renewed. */
  readonly renewAt: number
  readonly interval: number
  /** For each hour. */
  readonly cost: Cost
}

/** The cost of an hour. */
export interface Cost {
  /** The part for leases lost though their holders were well. */
  readonly lost: number
  /** The part for the time without a holder. */
  readonly down: number
  readonly total: number
}

const HOUR = 3_600

/** The number of calls to the store for which the shortest ttl has time, and also the time after `renewAt` if possible. */
const TRIES = 3

/** The longest ttl is this many times as long as the shortest. */
const RANGE = 10

const EARLIEST = 0.3
const LATEST = 0.7

/**
 * The cost of a ttl in an hour. There are `3600 / ttl` renewals; the part `badLuck` of them ends a lease. A crash leaves the
 * resource without a holder for half a ttl on average.
 */
export function costOf(ttl: number, { badLuck, lostCost, failures, downCost }: AdviceInput): Cost {
  const lost = lostCost * badLuck * (HOUR / ttl)
  const down = downCost * failures * (ttl / 2)
  return { lost, down, total: lost + down }
}

/** The ttl with the least cost: where the derivative of the cost is 0, within the bounds. */
export function advise(input: AdviceInput): Advice {
  const { operation, roundTrip, failures, lostCost, downCost, badLuck } = input
  const shortest = TRIES * roundTrip + operation
  const longest = RANGE * shortest
  const shorter = failures * downCost
  const best = shorter === 0 ? Number.POSITIVE_INFINITY : Math.sqrt((2 * HOUR * badLuck * lostCost) / shorter)
  const ttl = Math.min(Math.max(best, shortest), longest)
  const renewAt = Math.min(Math.max(1 - (TRIES * roundTrip) / ttl, EARLIEST), LATEST)
  return { shortest, longest, best, ttl, renewAt, interval: renewAt * ttl, cost: costOf(ttl, input) }
}
