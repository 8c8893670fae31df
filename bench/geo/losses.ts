import { TimeoutSettings } from '@leasehold/core'
import { SimulatedLease } from '../../packages/core/test/objective/lease-days.js'
import { pareto, partAbove, type World } from '../../packages/core/test/objective/world.js'
import { Random } from '../../packages/testkit/src/random.js'
import { RETRANSMISSION } from './regions.js'

const DAYS_OF_YEAR = 365.25

/** A link between a holder and its store, as the world of a simulated lease. */
export interface Link {
  /** In milliseconds. */
  readonly roundTrip: number
  /** The part of the packets that are lost, and sent again by TCP. */
  readonly packetLoss: number
  /** Whether the link is silent once a week, for a second or more: one in twenty times for 10 s or more. */
  readonly isSilentAtTimes: boolean
}

export interface Times {
  readonly heartbeatTimeout: number
  readonly operationTimeout?: number
}

/** Enough losses for a rate of two digits. */
const ENOUGH = 1_000

/**
 * False losses a year of one lease, measured over this number of simulated days, or over fewer if there are many losses.
 * `Infinity` where the time limit of a request is shorter than most round trips.
 */
export function falseLosses(link: Link, times: Times, days: number): number {
  const random = new Random(1)
  const world = worldOf(link)
  const timeouts = new TimeoutSettings(times)
  if (partAbove(world.roundTrip, timeouts.operationTimeout) > 0.5) return Number.POSITIVE_INFINITY
  const lease = new SimulatedLease(world, timeouts, () => random.next())
  let lived = 0
  let losses = 0
  for (let next = 10; lived < days && losses < ENOUGH; next = Math.min(lived, days - lived)) {
    losses += lease.live(next).losses
    lived += next
  }
  return (losses / lived) * DAYS_OF_YEAR
}

export function worldOf({ roundTrip, packetLoss, isSilentAtTimes }: Link): World {
  return {
    name: `${roundTrip} ms`,
    roundTrip: (part) => roundTrip * (1.1 - 0.1 * part) + lateness(part, roundTrip, packetLoss),
    ...(isSilentAtTimes ? { windows: [{ kind: 'silent', everyDays: 7, lasts: pareto(1_000, 1.3) }] } : {}),
  }
}

/** By how much the given part of all round trips is later at least: each has two messages, and waits double. */
function lateness(part: number, roundTrip: number, packetLoss: number): number {
  let lost = 0
  for (let later = 2 * packetLoss; later > part; later *= packetLoss) lost += 1
  return (RETRANSMISSION + roundTrip) * (2 ** lost - 1)
}
