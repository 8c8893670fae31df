import { median } from '../support/statistics.js'
import { TTL } from './costs.js'
import { type PlacementName, placementNames } from './placements.js'
import { type Region, regions } from './regions.js'
import { GeoWorld, type RegionalProcess } from './world.js'

export const faultNames = ['A is gone', 'C is gone', 'nothing passes between A and C'] as const

export type FaultName = (typeof faultNames)[number]

/** For how long a fault lasts, in milliseconds. */
export const FAULT = 60_000

/** How often is looked who holds, in milliseconds. */
const LOOK = 50

/** A fault of a minute: for how long nobody holds the lease, in milliseconds. */
export interface FaultCost {
  readonly placement: PlacementName
  readonly fault: FaultName
  /** By the region of the holder before the fault; a waiter is in each other region. `FAULT`: nobody until the end. */
  readonly gap: Readonly<Record<Region, number>>
}

export async function measureFaults(runs: number): Promise<readonly FaultCost[]> {
  const costs: FaultCost[] = []
  for (const placement of placementNames) {
    for (const fault of faultNames) {
      const gap = { A: 0, B: 0, C: 0 }
      for (const holder of regions) {
        const gaps: number[] = []
        for (let seed = 0; seed < runs; seed += 1) gaps.push(await gapOf(placement, fault, holder, seed))
        gap[holder] = median(gaps)
      }
      costs.push({ placement, fault, gap })
    }
  }
  return costs
}

async function gapOf(placement: PlacementName, fault: FaultName, from: Region, seed: number): Promise<number> {
  const world = new GeoWorld({ seed, placement, heartbeatTimeout: TTL })
  const holder = world.start(from)
  await world.measure(holder.lease.acquire())
  const waiters = regions.filter((region) => region !== from).map((region) => world.start(region))
  for (const waiter of waiters) void waiter.wait()
  await world.time.advance(world.random.between(TTL, 2 * TTL))
  const processes = [holder, ...waiters]
  begin(world, fault, processes)
  let gap = 0
  for (let passed = 0; passed < FAULT; passed += LOOK) {
    await world.time.advance(LOOK)
    if (!processes.some(({ isDead, lease }) => !isDead && lease.checkLease())) gap += LOOK
  }
  for (const { crash } of processes) crash()
  return gap
}

/** A region that is gone takes its processes with it. */
function begin(world: GeoWorld, fault: FaultName, processes: readonly RegionalProcess[]): void {
  if (fault === 'nothing passes between A and C') {
    world.network.cut('A', 'C')
    return
  }
  const region = fault === 'A is gone' ? 'A' : 'C'
  world.isolate(region)
  for (const process of processes) if (process.region === region) process.crash()
}

/** The part of the holders in C that lose a lease of this ttl while nothing passes between them and the server in A. */
export async function measureSilence(heartbeatTimeout: number, silence: number, runs: number): Promise<number> {
  let lost = 0
  for (let seed = 0; seed < runs; seed += 1) {
    const world = new GeoWorld({ seed, placement: 'one server in A', heartbeatTimeout })
    const { lease, crash } = world.start('C')
    await world.measure(lease.acquire())
    await world.time.advance(world.random.between(heartbeatTimeout, 2 * heartbeatTimeout))
    let isLost = false
    lease.on('lost', () => {
      isLost = true
    })
    world.network.cut('A', 'C')
    await world.time.advance(silence)
    world.network.restore()
    await world.time.advance(heartbeatTimeout)
    if (isLost) lost += 1
    crash()
  }
  return lost / runs
}
