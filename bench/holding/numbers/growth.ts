import { loadavg } from 'node:os'
import { largest, percentile } from '../../support/statistics.js'
import { Fleet } from '../holder/fleet.js'
import type { StoreKind } from '../holder/open-store.js'
import { withServer } from '../servers/servers.js'
import { costOf, measureHolding } from './holding.js'
import { withProgress } from './progress.js'

/** The times of the leases, in milliseconds. */
export interface GrowthTimes {
  readonly ttl: number
  readonly interval: number
}

/** The cost of each held lease. */
export interface LeaseCost {
  readonly leases: number
  readonly processes: number
  /** Processor time for each heartbeat interval, in microseconds. */
  readonly clientCpu: number
  readonly serverCpu: number
  /** Bytes. */
  readonly heap: number
  readonly stored: number
  readonly delayP99: number
  readonly lost: number
  readonly load: number
}

/** Times in milliseconds. */
export interface Latency {
  /** Names in the store, or waiters. */
  readonly size: number
  readonly median: number
  readonly p99: number
  readonly load: number
}

/** What the names in the store cost. */
export interface NamesCost {
  readonly names: number
  readonly cycle: Latency
  /** Cycles a second, 64 at a time. */
  readonly throughput: number
  /** Of the server for each of these cycles, in microseconds. */
  readonly serverCpu: number
  readonly handOver: Latency
}

/** The cost of each lease, where so many are held by so many processes. */
export async function measureLeaseCost(
  store: StoreKind,
  leases: number,
  processes: number,
  { ttl, interval }: GrowthTimes,
): Promise<LeaseCost> {
  // Each lease has one heartbeat in an interval.
  const task = { store, leases, processes, ttl, interval, measured: interval, isKilled: false }
  const holding = await measureHolding(task)
  const { stored, load, processes: holders } = holding
  const each = costOf(holding)
  const total = (figure: (holder: (typeof holders)[number]) => number): number =>
    holders.reduce((sum, holder) => sum + figure(holder), 0)
  const heap = holders.filter((holder) => holder.leases > 0)
  return {
    leases,
    processes,
    clientCpu: each.clients,
    serverCpu: each.server,
    heap: heap.reduce((sum, holder) => sum + holder.heap * holder.leases, 0) / leases,
    stored,
    delayP99: largest(holders.map(({ delayP99 }) => delayP99)),
    lost: total(({ lost }) => lost),
    load,
  }
}

/** From a release to the next grant, while so many wait for the name in one process. */
export async function measureHandOver(store: StoreKind, waiters: number, times: GrowthTimes): Promise<Latency> {
  return await withServer(store, async ({ address }) => {
    const fleet = await Fleet.start({ store, address, ...times }, 1)
    try {
      return await handOver(fleet, waiters)
    } finally {
      await fleet.stop()
    }
  })
}

/** How many cycles and hand-overs of one waiter are measured. */
const ROUNDS = 1_000
const HAND_OVERS = 100
const LANES = 64

/** An hour, in milliseconds: so that the leases of the other names have no heartbeat meanwhile. */
const OTHER_TTL = 3_600_000

/** Acquire, release and hand-over, while so many other names are held. */
export async function measureNames(store: StoreKind, names: number, times: GrowthTimes): Promise<NamesCost> {
  return await withServer(store, async (server) => {
    const { address } = server
    const holders = await Fleet.start({ store, address, ttl: OTHER_TTL, interval: OTHER_TTL / 4 }, 4)
    const fleet = await Fleet.start({ store, address, ...times }, 1)
    try {
      await withProgress('names', holders, holders.hold({ first: 0, count: names }))
      const [one = []] = await fleet.all((holder) => holder.ask('cycles', ROUNDS, 1))
      const before = await server.read()
      const startedAt = performance.now()
      const [many = []] = await fleet.all((holder) => holder.ask('cycles', ROUNDS / 2, LANES))
      const seconds = (performance.now() - startedAt) / 1_000
      const { cpu } = await server.read()
      // The first rounds of each lane are not in the times, but in the processor time.
      const cycles = many.length * 1.1
      return {
        names,
        cycle: latency(names, one),
        throughput: cycles / seconds,
        serverCpu: ((cpu - before.cpu) * 1_000) / cycles,
        handOver: await handOver(fleet, 1),
      }
    } finally {
      await holders.stop()
      await fleet.stop()
    }
  })
}

async function handOver(fleet: Fleet, waiters: number): Promise<Latency> {
  const [times = []] = await fleet.all((holder) => holder.ask('handOver', waiters, HAND_OVERS))
  return latency(waiters, times)
}

function latency(size: number, times: readonly number[]): Latency {
  const [load = Number.NaN] = loadavg()
  return { size, median: percentile(times, 0.5), p99: percentile(times, 0.99), load }
}
