/** Does one task in a process of its own, and prints the outcome: `worker.js <task as JSON>`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createLease, type LeaseStore, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/core/thread'
import { LocalLeaseStore } from '@leasehold/local'
import { type Block, type Cost, type Task, TTL } from './task.js'

async function openIn(isThreaded: boolean, folder: string | undefined): Promise<LeaseStore> {
  if (!isThreaded) return folder === undefined ? new MemoryLeaseStore() : new LocalLeaseStore({ folder })
  const leaseClass = folder === undefined ? '@leasehold/core#memoryLease' : '@leasehold/local'
  return await new HeartbeatThread().open({ leaseClass, options: folder === undefined ? {} : { folder } })
}

/** Blocks the event loop for so many milliseconds. */
function block(by: Block, duration: number, folder: string): void {
  const end = performance.now() + duration
  const file = join(folder, 'large')
  if (by === 'synchronous file reads') writeFileSync(file, Buffer.alloc(64 * 1024 * 1024))
  const heap: object[] = []
  while (performance.now() < end) {
    if (by === 'synchronous file reads') readFileSync(file)
    if (by === 'garbage collection of a large heap') {
      while (heap.length < 2_000_000) heap.push({ at: heap.length })
      globalThis.gc?.()
    }
  }
}

async function measureLosses({
  isThreaded,
  block: by,
  ttls,
  folder,
  leases,
}: Task & { type: 'blocked' }): Promise<number> {
  const store = await openIn(isThreaded, join(folder, 'leases'))
  const held = Array.from({ length: leases }, (_, place) =>
    createLease(store, `${by} ${ttls} ${isThreaded} ${place}`, { heartbeatTimeout: TTL }),
  )
  for (const lease of held) await lease.acquire()
  await pause(TTL)
  block(by, ttls * TTL, folder)
  return held.filter((lease) => !lease.checkLease()).length
}

async function measureCost({ isThreaded, leases, seconds }: Task & { type: 'cost' }): Promise<Cost> {
  const before = process.memoryUsage.rss()
  const startedAt = performance.now()
  const store = await openIn(isThreaded, undefined)
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
  const [from, used] = [performance.now(), process.cpuUsage()]
  await pause(seconds * 1_000)
  const { user, system } = process.cpuUsage(used)
  const cpu = (user + system) / 10 / (performance.now() - from)
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

const task: Task = JSON.parse(process.argv[2] ?? '{}')
const outcome = task.type === 'blocked' ? await measureLosses(task) : await measureCost(task)
process.stdout.write(JSON.stringify(outcome), () => process.exit())
