import { LeaseError } from '@leasehold/core'
import type { Scenario, SimulatedProcess } from '@leasehold/simulator'
import { ReadWriteLease } from '../../src/index.js'

/** The lease that operators break and delete in the simulator. */
const NAME = 'job'

const READERS = 2

/** The shared key for what happened, for the tests. */
export const COUNTS = 'counts'

export interface Counts {
  read: number
  written: number
  upgradesRefused: number
  /** The most readers at an instant. */
  together: number
}

/** Each process reads and writes by turns; some have a second reader. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { random, shared } = process
  if (!shared.has(COUNTS)) shared.set(COUNTS, { read: 0, written: 0, upgradesRefused: 0, together: 0 } satisfies Counts)
  const works = [readAndWrite(process, 0.4)]
  if (random.chance(0.2)) works.push(readAndWrite(process, 0))
  await Promise.all(works)
}

async function readAndWrite(process: SimulatedProcess, writes: number): Promise<void> {
  const { store, leaseOptions, random, shared, show, signal, sleep } = process
  const { heartbeatTimeout: ttl = 0 } = leaseOptions
  const counts = shared.get(COUNTS) as Counts
  const both = new ReadWriteLease(store, { ...leaseOptions, name: NAME, readers: READERS })
  show({ kind: 'reader', of: NAME, isActive: () => both.shared.checkLease() })
  show({ kind: 'writer', of: NAME, isActive: () => both.exclusive.checkLease() })
  while (!signal.aborted) {
    const isWriting = random.chance(writes)
    const lease = isWriting ? both.exclusive : both.shared
    try {
      const wait = random.pick([0, ttl / 2, Number.POSITIVE_INFINITY])
      if (await lease.acquire({ wait, signal })) {
        counts[isWriting ? 'written' : 'read'] += 1
        if (random.chance(0.2)) await tryToChange(isWriting ? both.shared : both.exclusive, lease, counts)
        await sleep(ttl * random.magnitude(-1, 0.5))
      }
      await lease.release()
    } catch (error) {
      if (!(error instanceof LeaseError) && !signal.aborted) throw error
    }
    await sleep(ttl * random.magnitude(-1, 0))
  }
  // It rejects where a release was not confirmed in time.
  await both.stop().catch(() => {})
}

/** A reader must not become a writer, nor a writer a reader. */
async function tryToChange(
  wanted: ReadWriteLease['shared'],
  held: ReadWriteLease['shared'],
  counts: Counts,
): Promise<void> {
  if (!held.checkLease()) return
  const error = await wanted.acquire({ wait: 1 }).catch((reason: unknown) => reason)
  if (!(error instanceof LeaseError) || error.code !== 'conflict') throw new Error('an upgrade was not refused')
  counts.upgradesRefused += 1
}

/** One writer alone, or as many readers as there may be. */
export const scenario: Scenario = {
  workload,
  findFault: ({ active, shared }) => {
    const readers = active.filter(({ kind }) => kind === 'reader')
    const writers = active.filter(({ kind }) => kind === 'writer')
    const counts = shared.get(COUNTS) as Counts | undefined
    if (counts !== undefined) counts.together = Math.max(counts.together, readers.length)
    const namesOf = (active: readonly { readonly owner: string }[]): string =>
      active.map(({ owner }) => owner).join(', ')
    if (writers.length > 1) return `${writers.length} writers: ${namesOf(writers)}`
    if (readers.length > READERS) return `${readers.length} of ${READERS} readers: ${namesOf(readers)}`
    if (writers.length + readers.length > Math.max(1, readers.length)) {
      return `a reader beside a writer: ${namesOf(readers)} beside ${namesOf(writers)}`
    }
    return undefined
  },
}
