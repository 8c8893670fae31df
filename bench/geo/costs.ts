import { median } from '../support/statistics.js'
import { type PlacementName, placementNames } from './placements.js'
import { type Region, regions } from './regions.js'
import { GeoWorld, type WorldOptions } from './world.js'

/** The ttl of the lease whose take-over is measured, in milliseconds. */
export const TTL = 10_000

/** The costs for a holder in one region, each a median in milliseconds. */
export interface Costs {
  readonly placement: PlacementName
  readonly holder: Region
  readonly acquire: number
  readonly heartbeat: number
  /** From the call of `release` until a waiter in each region holds the lease. */
  readonly handOver: Readonly<Record<Region, number>>
  /** From the call of `handOff` until a process in the farthest region has adopted the lease, with the message between them. */
  readonly handOff: number
  /** From a crash until a waiter in another region holds the lease: the mean. */
  readonly takeOver: number
}

/** For each place of the store and each region of the holder. `runs`: of each measurement. */
export async function measureCosts(runs: number): Promise<readonly Costs[]> {
  const costs: Costs[] = []
  for (const placement of placementNames) {
    for (const holder of regions) costs.push(await costsOf(placement, holder, runs))
  }
  return costs
}

async function costsOf(placement: PlacementName, holder: Region, runs: number): Promise<Costs> {
  const seeds = Array.from({ length: runs }, (_, seed) => ({ seed, placement, heartbeatTimeout: TTL }))
  const each = async (measure: (options: WorldOptions) => Promise<number>): Promise<readonly number[]> => {
    const values: number[] = []
    for (const options of seeds) values.push(await measure(options))
    return values
  }
  const handOver = async (next: Region) => median(await each((options) => handOverOf(options, holder, next)))
  const others = regions.filter((region) => region !== holder)
  const takeOvers = await Promise.all(others.map((next) => each((options) => takeOverOf(options, holder, next))))
  return {
    placement,
    holder,
    acquire: median(await each((options) => acquireOf(options, holder))),
    heartbeat: median(await each((options) => heartbeatOf(options, holder))),
    handOver: { A: await handOver('A'), B: await handOver('B'), C: await handOver('C') },
    handOff: median(await each((options) => handOffOf(options, holder, farthestFrom(holder)))),
    takeOver: mean(takeOvers.flat()),
  }
}

async function acquireOf(options: WorldOptions, region: Region): Promise<number> {
  const world = new GeoWorld(options)
  const { lease } = world.start(region)
  return (await world.measure(lease.acquire())).took
}

async function heartbeatOf(options: WorldOptions, region: Region): Promise<number> {
  const world = new GeoWorld(options)
  const { lease } = world.start(region)
  await world.measure(lease.acquire())
  return (await world.measure(lease.renew())).took
}

async function handOverOf(options: WorldOptions, from: Region, to: Region): Promise<number> {
  const world = new GeoWorld(options)
  const holder = world.start(from)
  await world.measure(holder.lease.acquire())
  const granted = world.start(to).wait()
  await world.time.advance(world.random.between(TTL, 2 * TTL))
  void holder.lease.release()
  return (await world.measure(granted)).took
}

async function handOffOf(options: WorldOptions, from: Region, to: Region): Promise<number> {
  const world = new GeoWorld(options)
  const holder = world.start(from)
  await world.measure(holder.lease.acquire())
  const next = world.start(to)
  const begun = world.time.now
  const { value } = await world.measure(holder.lease.handOff({ owner: next.owner }))
  await world.time.advance(world.network.way(from, to))
  await world.measure(next.lease.adopt(value))
  return world.time.now - begun
}

async function takeOverOf(options: WorldOptions, from: Region, to: Region): Promise<number> {
  const world = new GeoWorld(options)
  const holder = world.start(from)
  await world.measure(holder.lease.acquire())
  const granted = world.start(to).wait()
  await world.time.advance(world.random.between(TTL, 2 * TTL))
  holder.crash()
  return (await world.measure(granted)).took
}

/** From the call of `acquire` for a lease under a parent in C until it is held. Its store is in C, that of the parent in A. */
export async function measureChild(runs: number): Promise<number> {
  const values: number[] = []
  for (let seed = 0; seed < runs; seed += 1) {
    const world = new GeoWorld({ seed, placement: 'one server in A', heartbeatTimeout: TTL })
    const parent = world.start('C')
    await world.measure(parent.lease.acquire())
    values.push((await world.measure(world.startChild(parent).lease.acquire())).took)
  }
  return median(values)
}

function farthestFrom(region: Region): Region {
  return region === 'C' ? 'B' : 'C'
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
