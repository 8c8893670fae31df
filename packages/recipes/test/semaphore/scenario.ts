import { LeaseError } from '@leasehold/core'
import type { Scenario, SimulatedProcess } from '@leasehold/simulator'
import { type Permit, Semaphore } from '../../src/index.js'

/** The lease that operators break and delete in the simulator. */
const CONTENDED = 'job'

/** Here an operator deletes nothing: a number of permits that was changed would be forgotten. */
const RESIZED = 'resized'

/** The shared key for the name of the semaphore. */
const NAME = 'name'

/** How many permits there are at the beginning. */
const PERMITS = 2

/** The shared key for the numbers of permits. */
const NUMBERS = 'numbers'

/** The numbers of permits that may count. */
class Numbers {
  /** The number that new instances are made with. */
  deployed = PERMITS
  /** How many changes have begun. */
  begun = 0
  /** How many resizes have begun and not ended. */
  underWay = 0
  /** The largest number that may have been written since one was known to count. */
  #written = PERMITS
  /** Those of instances that have not entered yet, and may write their number at any time. */
  readonly #coming = new Map<symbol, number>()

  /** The largest number of permits that may be valid. */
  get most(): number {
    return Math.max(this.#written, ...this.#coming.values())
  }

  /** An instance is made, and may write this number until it has `come`. */
  expect(made: number): { come(): void } {
    const key = Symbol(made)
    this.#coming.set(key, made)
    this.begun += 1
    const come = (): void => {
      if (this.#coming.delete(key)) this.onWrite(made)
    }
    return { come }
  }

  onWrite(permits: number): void {
    this.begun += 1
    this.#written = Math.max(this.#written, permits)
  }

  /** Only this number counts now, but for those of instances that are still to come. */
  onReached(permits: number): void {
    this.#written = permits
  }
}

/** The shared key for what happened, for the tests. */
export const COUNTS = 'counts'

export interface Counts {
  granted: number
  refused: number
  together: number
  resized: number
  deployed: number
}

/** Each process acquires permits, several at a time, holds them for a while and releases them; some resize. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, random, shared, signal } = process
  if (!shared.has(NUMBERS)) shared.set(NUMBERS, new Numbers())
  if (!shared.has(COUNTS)) shared.set(COUNTS, { granted: 0, refused: 0, together: 0, resized: 0, deployed: 0 })
  if (!shared.has(NAME)) shared.set(NAME, random.chance(0.5) ? CONTENDED : RESIZED)
  const name = String(shared.get(NAME))
  const numbers = shared.get(NUMBERS) as Numbers
  if (name === RESIZED && random.chance(0.3)) {
    numbers.deployed = random.whole(1, 3)
    const counts = shared.get(COUNTS) as Counts
    counts.deployed += 1
  }
  const semaphore = new Semaphore(store, { ...leaseOptions, name, permits: numbers.deployed })
  const instance = numbers.expect(numbers.deployed)
  const works = [usePermits(process, semaphore, instance)]
  if (random.chance(0.15)) works.push(usePermits(process, semaphore, instance))
  await Promise.all(works)
  // It rejects where a release was not confirmed in time.
  if (signal.aborted) await semaphore.stop().catch(() => {})
}

async function usePermits(process: SimulatedProcess, semaphore: Semaphore, instance: { come(): void }): Promise<void> {
  const { leaseOptions, random, shared, show, signal, sleep } = process
  const { heartbeatTimeout: ttl = 0 } = leaseOptions
  const counts = shared.get(COUNTS) as Counts
  let permit: Permit | undefined
  show({ kind: 'permit', of: semaphore.name, isActive: () => permit?.checkLease() === true })
  while (!signal.aborted) {
    try {
      if (semaphore.name === RESIZED && random.chance(0.15)) await resize(process, semaphore, instance)
      permit = await semaphore.acquire({ wait: random.pick([0, ttl / 2, Number.POSITIVE_INFINITY]), signal })
      // A refusal may have come before it has read the number.
      if (permit !== undefined) instance.come()
      counts[permit === undefined ? 'refused' : 'granted'] += 1
      await sleep(ttl * random.magnitude(-1, 0.5))
      await permit?.release()
    } catch (error) {
      if (!(error instanceof LeaseError) && !signal.aborted) throw error
    }
    await sleep(ttl * random.magnitude(-1, 0))
  }
  await permit?.release().catch(() => {})
}

async function resize(
  { random, shared, signal }: SimulatedProcess,
  semaphore: Semaphore,
  instance: { come(): void },
): Promise<void> {
  const permits = random.whole(1, 3)
  const numbers = shared.get(NUMBERS) as Numbers
  numbers.onWrite(permits)
  numbers.underWay += 1
  const { begun, underWay } = numbers
  try {
    await semaphore.resize(permits, { signal })
    instance.come()
    // Another change that overlapped may have been written last. A resize of a process that crashed is under way for ever.
    if (underWay === 1 && numbers.begun === begun) numbers.onReached(permits)
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
    const { most } = (shared.get(NUMBERS) as Numbers | undefined) ?? new Numbers()
    const counts = shared.get(COUNTS) as Counts | undefined
    if (counts !== undefined) counts.together = Math.max(counts.together, active.length)
    if (active.length <= most) return undefined
    return `${active.length} of ${most} permits: ${active.map(({ owner }) => owner).join(', ')}`
  },
}
