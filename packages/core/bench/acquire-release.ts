import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { Mutex } from 'async-mutex'
import type { Measurement } from './support/measurement.js'
import { median } from './support/median.js'

const ROUNDS = 15
const CYCLES = 100_000

/** A whole acquisition through the engine, against the mutex that most Node programs use; rounds taken in turn. */
export async function measureAcquireRelease(): Promise<readonly Measurement[]> {
  const lease = createLease(new MemoryLeaseStore(), 'bench')
  const mutex = new Mutex()
  const ours = async (): Promise<void> => {
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await lease.acquire()
      await lease.release()
    }
  }
  const theirs = async (): Promise<void> => {
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const release = await mutex.acquire()
      release()
    }
  }
  const rounds: { ours: number; theirs: number }[] = []
  await ours()
  await theirs()
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ ours: await timeOf(ours), theirs: await timeOf(theirs) })
  }
  const nanoseconds = (of: 'ours' | 'theirs'): number => (median(rounds.map((round) => round[of])) / CYCLES) * 1e6
  const ratio = median(rounds.map((round) => round.theirs / round.ours))
  return [
    { what: 'acquire + release in memory', value: nanoseconds('ours'), unit: 'ns' },
    { what: 'async-mutex acquire + release', value: nanoseconds('theirs'), unit: 'ns' },
    { what: 'times as fast as async-mutex', value: ratio, unit: '×' },
  ]
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
