import { adviseDurations, type DurationAdvice } from '@leasehold/core'
import { VirtualTime } from '@leasehold/testkit'
import { Random } from '../../packages/testkit/src/random.js'
import { type Region, RegionNetwork } from './regions.js'

const SAMPLES = 10_000

/** The durations that an objective of one false loss a year chooses from the round trips between two regions. */
export function advise(from: Region, to: Region, failover: number): DurationAdvice {
  const network = new RegionNetwork(new VirtualTime(), new Random(1), { packetLoss: 0.01 })
  const roundTrips = Array.from({ length: SAMPLES }, () => network.way(from, to) + network.way(to, from))
  return adviseDurations({ failover, falseLossesPerYear: 1 }, { roundTrips })
}
