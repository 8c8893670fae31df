import { setTimeout as pause } from 'node:timers/promises'
import { createLease, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { processorTime } from '../../support/processor-time.js'

interface CostTask {
  readonly isThreaded: boolean
  readonly leases: number
  readonly seconds: number
}

export interface Cost {
  /** From the start to the first grant, in milliseconds. */
  readonly start: number
  /** Resident memory that was added, in MB. */
  readonly memory: number
  /** CPU time in percent of one core, while all leases are held. */
  readonly cpu: number
  /** Nanoseconds. */
  readonly checkLease: number
}

/** In a process of its own: holds leases over a store in memory. */
export async function measureCost({ isThreaded, leases, seconds }: CostTask): Promise<Cost> {
  const before = process.memoryUsage.rss()
  const startedAt = performance.now()
  const store = isThreaded
    ? await new HeartbeatThread().open({ leaseClass: '@leasehold/core#memoryLease' })
    : new MemoryLeaseStore()
  const held: StoreLease[] = []
  for (let place = 0; place < leases; place += 1) {
    held.push(createLease(store, `lease ${place}`, { heartbeatTimeout: 60_000, heartbeatInterval: 10_000 }))
    if (place === 0) await held[0]?.acquire()
  }
  const start = performance.now() - startedAt
  for (let place = 0; place < leases; place += 500) {
    await Promise.all(held.slice(place, place + 500).map((lease) => lease.acquire()))
  }
  await pause(10_000)
  const [from, used] = [performance.now(), processorTime()]
  await pause(seconds * 1_000)
  const cpu = ((processorTime() - used) * 100) / (performance.now() - from)
  const memory = (process.memoryUsage.rss() - before) / 1024 / 1024
  return { start, memory, cpu, checkLease: checkTime(held[0]) }
}

/** The shortest of some rounds: others were disturbed. */
function checkTime(lease: StoreLease | undefined): number {
  const CHECKS = 100_000
  let shortest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 30; round += 1) {
    const from = performance.now()
    for (let check = 0; check < CHECKS; check += 1) if (lease?.checkLease() !== true) throw new Error('it was lost')
    shortest = Math.min(shortest, ((performance.now() - from) / CHECKS) * 1e6)
  }
  return shortest
}
