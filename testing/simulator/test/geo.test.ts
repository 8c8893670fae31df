import { beforeAll, describe, expect, it } from 'vitest'
import { type Costs, measureChild, measureCosts, TTL } from '../../../bench/geo/costs.js'
import { FAULT, type FaultCost, type FaultName, measureFaults, measureSilence } from '../../../bench/geo/faults.js'
import { falseLosses, type Link } from '../../../bench/geo/losses.js'
import { advise } from '../../../bench/geo/objectives.js'
import type { PlacementName } from '../../../bench/geo/placements.js'
import { LONGEST_ROUND_TRIP, type Region, ROUND_TRIPS, regions } from '../../../bench/geo/regions.js'

const RUNS = 6

/** As the engine: a drift of one percent, and a margin. */
const VALIDITY = 0.99 * TTL - 25

/** Longer than any request between regions, with jitter. */
const WAY = 2 * LONGEST_ROUND_TRIP

describe('a lease across three regions', () => {
  let costs: readonly Costs[]

  beforeAll(async () => {
    costs = await measureCosts(RUNS)
  })

  const costsOf = (placement: PlacementName, holder: Region): Costs => {
    const found = costs.find((one) => one.placement === placement && one.holder === holder)
    if (found === undefined) throw new Error(`${placement} from ${holder} was not measured`)
    return found
  }

  it('with one server: each request costs the round trip to the server', () => {
    for (const holder of regions) {
      const { acquire, heartbeat } = costsOf('one server in A', holder)
      for (const took of [acquire, heartbeat]) {
        expect(took).toBeGreaterThanOrEqual(ROUND_TRIPS.A[holder])
        expect(took).toBeLessThan(1.11 * ROUND_TRIPS.A[holder])
      }
    }
  })

  it('with a consensus: a heartbeat costs as much as with one server, a grant also the way of the leader to its nearest follower', () => {
    for (const holder of regions) {
      const [one, three] = [costsOf('one server in A', holder), costsOf('consensus, leader in A', holder)]
      expect(Math.abs(three.heartbeat - one.heartbeat)).toBeLessThan(0.1 * ROUND_TRIPS.A[holder] + 1)
      expect(three.acquire - one.acquire).toBeGreaterThan(0.95 * ROUND_TRIPS.A.B)
      expect(three.acquire - one.acquire).toBeLessThan(1.15 * ROUND_TRIPS.A.B)
    }
  })

  it('with a quorum: a heartbeat costs the round trip to the nearer other region, a grant more, and no region is the best by far', () => {
    for (const holder of regions) {
      const nearest = Math.min(
        ...regions.filter((other) => other !== holder).map((other) => ROUND_TRIPS[holder][other]),
      )
      const { acquire, heartbeat } = costsOf('quorum of three servers', holder)
      expect(heartbeat).toBeGreaterThanOrEqual(nearest)
      expect(heartbeat).toBeLessThan(1.11 * nearest)
      expect(acquire).toBeGreaterThan(1.5 * nearest)
    }
  })

  it('a hand-over needs half a second where waiters are notified, and longer where they poll', () => {
    for (const { placement, handOver, handOff } of costs) {
      const longest = Math.max(...Object.values(handOver))
      if (placement === 'quorum of three servers') {
        expect(Math.min(...Object.values(handOver))).toBeGreaterThan(500)
        expect(longest).toBeLessThan(1_500)
      } else expect(longest).toBeLessThan(500)
      expect(handOff).toBeLessThan(550)
    }
  })

  it('a take-over costs the ttl less the age of the last heartbeat, wherever the store lives', () => {
    for (const { takeOver } of costs) {
      expect(takeOver).toBeGreaterThan(0.8 * TTL)
      expect(takeOver).toBeLessThan(TTL + WAY)
    }
  })

  it('a lease with a store in its own region, under a parent far away, is acquired there', async () => {
    expect(await measureChild(RUNS)).toBeLessThan(2)
  })
})

describe('a fault across three regions', () => {
  let faults: readonly FaultCost[]

  beforeAll(async () => {
    faults = await measureFaults(RUNS)
  })

  const gapOf = (placement: PlacementName, fault: FaultName, holder: Region): number | undefined => {
    return faults.find((one) => one.placement === placement && one.fault === fault)?.gap[holder]
  }

  it('one server: when its region is gone, nobody is granted the lease until it is back', () => {
    expect(gapOf('one server in A', 'A is gone', 'A')).toBe(FAULT)
    for (const holder of ['B', 'C'] as const) {
      expect(gapOf('one server in A', 'A is gone', holder)).toBeGreaterThan(FAULT - TTL)
    }
  })

  it('three servers: any region may be gone; a holder elsewhere keeps the lease, and a holder there is replaced', () => {
    for (const placement of ['consensus, leader in A', 'quorum of three servers'] as const) {
      for (const [fault, gone] of [
        ['A is gone', 'A'],
        ['C is gone', 'C'],
      ] as const) {
        for (const holder of regions) {
          const gap = gapOf(placement, fault, holder)
          if (holder !== gone) expect(gap).toBe(0)
          else expect(gap).toBeLessThan(TTL + 20 * LONGEST_ROUND_TRIP + WAY)
        }
      }
    }
  })

  it('three servers: a link between two regions costs no lease, and one server loses the holder behind it', () => {
    for (const holder of regions) {
      expect(gapOf('consensus, leader in A', 'nothing passes between A and C', holder)).toBe(0)
      expect(gapOf('quorum of three servers', 'nothing passes between A and C', holder)).toBe(0)
    }
    expect(gapOf('one server in A', 'nothing passes between A and C', 'C')).toBeGreaterThan(0)
  })

  it('a silence shorter than validity, interval and time limit allow costs no lease, a longer one than the validity every lease', async () => {
    expect(await measureSilence(TTL, VALIDITY - 2_000 - 2_000 - WAY, RUNS)).toBe(0)
    expect(await measureSilence(TTL, VALIDITY, RUNS)).toBe(1)
  })
})

describe('false losses behind a long link', () => {
  const link: Link = { roundTrip: LONGEST_ROUND_TRIP, packetLoss: 0.01, isSilentAtTimes: false }
  const of = (over: Partial<Link>, heartbeatTimeout: number, operationTimeout?: number): number => {
    return falseLosses({ ...link, ...over }, { heartbeatTimeout, ...(operationTimeout && { operationTimeout }) }, 3_000)
  }

  it('a ttl of 25 round trips loses fewer than one lease a year to lost packets, one of 10 loses many', () => {
    expect(of({ packetLoss: 0.05 }, 5_000)).toBeLessThan(1)
    expect(of({ packetLoss: 0.05 }, 2_000)).toBeGreaterThan(1_000)
    expect(of({}, 2_000)).toBeGreaterThan(1)
  })

  it('a ttl of five round trips is never renewed: its time limit is shorter than a round trip', () => {
    expect(of({}, 1_000)).toBe(Number.POSITIVE_INFINITY)
  })

  it('a time limit just below the time of a packet that is sent again is the worst of those above a round trip', () => {
    const [below, above] = [of({}, 2_000, 500), of({}, 2_000, 700)]
    expect(below).toBeGreaterThan(100 * above)
  })

  it('only a longer ttl helps against silences of the link', () => {
    const losses = [2_000, 5_000, 10_000, 30_000].map((ttl) => of({ isSilentAtTimes: true }, ttl))
    expect(losses).toEqual([...losses].sort((one, other) => other - one))
    expect(losses.at(-1)).toBeGreaterThan(0.1)
  })

  it('an objective keeps a failover of 5 s across any two regions, and says that it does not keep one of 2 s across the longest link', () => {
    expect(advise('A', 'B', 5_000).kept).toBe(true)
    expect(advise('B', 'C', 5_000).kept).toBe(true)
    expect(advise('B', 'C', 2_000).kept).toBe(false)
  })
})
