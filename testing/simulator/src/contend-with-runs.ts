import type { LeasedWork, Metadata, StoreLease } from '@leasehold/core'
import type { Random } from '../../../packages/testkit/src/random.js'
import { expectLeaseErrors, WorkError } from './expected-errors.js'
import type { SimulatedProcess } from './workload.js'

/** A process, and its present lease: a closed lease is replaced. */
export interface Contender {
  readonly process: SimulatedProcess
  readonly ttl: number
  lease: StoreLease
  /** For the next lease after a closed one. */
  readonly createLease: () => StoreLease
  /** For choices that do not shift the other draws. */
  readonly draws: Random
  /** Returns the next metadata, unlike any before, or nothing. */
  readonly metadata: () => { readonly metadata?: Metadata }
}

/** Several runs of one lease at a time, together with every other use of the lease. */
export async function contendWithRuns(contender: Contender): Promise<void> {
  const { process, lease, ttl } = contender
  const { random, signal } = process
  // Under a grant that is held already, or not.
  if (random.chance(0.2)) await lease.acquire({ wait: ttl, signal })
  const uses = Array.from({ length: random.whole(1, 3) }, () => () => run(contender))
  if (random.chance(0.5)) uses.push(() => interfere(contender))
  await Promise.all(uses.map((use) => expectLeaseErrors(use)))
}

async function run(contender: Contender): Promise<void> {
  const { process, lease, ttl } = contender
  const { random } = process
  const wait = random.pick([0, ttl / 4, 2 * ttl])
  if (random.chance(0.9)) return await lease.run(workOf(contender), { wait, signal: process.signal })
  const cancelled = new AbortController()
  const cancelAfter = ttl * random.magnitude(-9, 0)
  await withTimer(
    process,
    cancelAfter,
    () => cancelled.abort(),
    () => lease.run(workOf(contender), { wait, signal: cancelled.signal }),
  )
}

/** A work that writes for a while. Some ignore their signal, some fail, some start a run of the same lease. */
function workOf({ process, lease, ttl }: Contender): LeasedWork<void> {
  const { clock, random } = process
  const until = ttl * random.magnitude(-7, 0)
  const [heedsSignal, fails, nests] = [random.chance(0.8), random.chance(0.1), random.chance(0.1)]
  const work: LeasedWork<void> = async ({ signal }) => {
    const end = clock.now() + until
    if (nests) await lease.run(() => process.sleep(ttl / 10), { wait: random.pick([0, Number.POSITIVE_INFINITY]) })
    while (clock.now() < end && !process.signal.aborted && !(heedsSignal && signal.aborted)) {
      if (lease.checkLease()) process.write(lease).catch(() => {})
      await process.sleep(Math.min(ttl / random.between(4, 10), end - clock.now()))
    }
    if (fails) throw new WorkError('the work failed')
  }
  if (!fails || random.chance(0.5)) return work
  return () => {
    throw new WorkError('the work failed before it returned a promise')
  }
}

/** Another part of the process uses the same lease meanwhile. */
async function interfere(contender: Contender): Promise<void> {
  const { process, lease, ttl } = contender
  const { random } = process
  await process.sleep(ttl * random.magnitude(-9, 0))
  switch (random.whole(0, 6)) {
    case 0:
      return await replaceLease(contender)
    case 1:
      return await handOff(contender)
    case 2:
    case 3:
      // The lease stays held: a later step releases it.
      await lease.acquire({ wait: random.pick([0, ttl]), signal: process.signal })
      return
    default:
      await lease.release()
  }
}

/** Closes the lease and continues with another one. */
export async function replaceLease(contender: Contender): Promise<void> {
  const { lease } = contender
  contender.lease = contender.createLease()
  await lease.close()
}

/** Hands a held lease off to the process of any node. */
export async function handOff({ process, lease }: Contender): Promise<void> {
  if (!lease.checkLease()) return
  const node = process.random.whole(0, process.nodes - 1)
  process.offer(node, await lease.handOff({ owner: process.ownerOf(node) }))
}

/** Calls `task` after the delay, unless the work has ended by then. */
export async function withTimer<T>(
  { clock }: SimulatedProcess,
  delay: number,
  task: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const cancel = clock.schedule(delay, task)
  try {
    return await work()
  } finally {
    cancel()
  }
}
