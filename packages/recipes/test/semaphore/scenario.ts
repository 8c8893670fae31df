import { LeaseConfigurationError, LeaseError } from '@leasehold/core'
import type { Scenario, SimulatedProcess } from '@leasehold/testkit/simulation'
import { type Permit, Semaphore } from '../../src/index.js'

/** The lease that operators break and delete in the simulator. */
const CONTENDED = 'job'

/** Here an operator deletes nothing: a number of permits that was resized would be forgotten. */
const RESIZED = 'resized'

/** The shared key for the name of the semaphore. */
const NAME = 'name'

/** How many permits there are at the beginning. */
const PERMITS = 2

/** The shared key for the numbers of permits. */
const NUMBERS = 'numbers'

interface Numbers {
  /** The largest number of permits that may be valid. */
  most: number
  /** How many resizes have begun. */
  begun: number
  /** How many resizes have begun and not ended. */
  underWay: number
}

/** The shared key for what happened, for the tests. */
export const COUNTS = 'counts'

export interface Counts {
  granted: number
  refused: number
  together: number
  resized: number
}

/** Each process acquires permits, several at a time, holds them for a while and releases them; some resize. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, random, shared, signal } = process
  if (!shared.has(NUMBERS)) shared.set(NUMBERS, { most: PERMITS, begun: 0, underWay: 0 } satisfies Numbers)
  if (!shared.has(COUNTS)) shared.set(COUNTS, { granted: 0, refused: 0, together: 0, resized: 0 } satisfies Counts)
  if (!shared.has(NAME)) shared.set(NAME, random.chance(0.5) ? CONTENDED : RESIZED)
  const name = String(shared.get(NAME))
  const semaphore = new Semaphore(store, { ...leaseOptions, name, permits: PERMITS })
  const works = [usePermits(process, semaphore)]
  if (random.chance(0.15)) works.push(usePermits(process, semaphore))
  await Promise.all(works)
  if (signal.aborted) await semaphore.close()
}

async function usePermits(process: SimulatedProcess, semaphore: Semaphore): Promise<void> {
  const { leaseOptions, random, shared, show, signal, sleep } = process
  const { heartbeatTimeout: ttl = 0 } = leaseOptions
  const counts = shared.get(COUNTS) as Counts
  let permit: Permit | undefined
  let isOutdated = false
  show({ kind: 'permit', of: semaphore.name, isActive: () => permit?.checkLease() === true })
  while (!signal.aborted) {
    try {
      if (semaphore.name === RESIZED && (isOutdated || random.chance(0.15))) await resize(process, semaphore)
      isOutdated = false
      permit = await semaphore.acquire({ wait: random.pick([0, ttl / 2, Number.POSITIVE_INFINITY]), signal })
      counts[permit === undefined ? 'refused' : 'granted'] += 1
      await sleep(ttl * random.magnitude(-1, 0.5))
      await permit?.release()
    } catch (error) {
      if (!(error instanceof LeaseError) && !signal.aborted) throw error
      // After a restart it has the number of the beginning, and is refused where that was resized: it resizes itself.
      isOutdated = error instanceof LeaseConfigurationError
    }
    await sleep(ttl * random.magnitude(-1, 0))
  }
  await permit?.release().catch(() => {})
}

async function resize({ random, shared, signal }: SimulatedProcess, semaphore: Semaphore): Promise<void> {
  const permits = random.whole(1, 3)
  const numbers = shared.get(NUMBERS) as Numbers
  numbers.most = Math.max(numbers.most, permits)
  numbers.begun += 1
  numbers.underWay += 1
  const { begun, underWay } = numbers
  try {
    await semaphore.resize(permits, { signal })
    // Another resize that overlapped may have written its number last. One of a process that crashed is under way for ever.
    if (underWay === 1 && numbers.begun === begun) numbers.most = permits
    const counts = shared.get(COUNTS) as Counts
    counts.resized += 1
  } finally {
    numbers.underWay -= 1
  }
}

/** At most as many permits are valid as there are. */
export const scenario: Scenario = {
  workload,
  findFault: ({ active, shared }) => {
    const { most } = (shared.get(NUMBERS) as Numbers | undefined) ?? { most: PERMITS }
    const counts = shared.get(COUNTS) as Counts | undefined
    if (counts !== undefined) counts.together = Math.max(counts.together, active.length)
    if (active.length <= most) return undefined
    return `${active.length} of ${most} permits: ${active.map(({ owner }) => owner).join(', ')}`
  },
}
