import { type AcquireOptions, LeaseProvider, StoreLease } from '@leasehold/core'
import type { Random } from '../../../packages/testkit/src/random.js'
import { silentLogger } from '../../../packages/testkit/src/silent-logger.js'
import { type Contender, contendWithRuns, handOff, replaceLease, withTimer } from './contend-with-runs.js'
import { expectLeaseErrors } from './expected-errors.js'
import { LEASE_NAME, type SimulatedProcess } from './workload.js'

const HANDLERS = 2

/** The shared key for whether the processes use `run`. */
const RUNS = 'runs'

/** The shared key for whether the leases of the nodes have different ttls. */
const TTLS = 'ttls'

/** The shared key for whether the processes preempt each other, and renew by hand. */
const PREEMPTS = 'preempts'

/** The shared key for whether the processes write metadata. */
const METADATA = 'metadata'

/**
 * The default workload. Each process claims the lease repeatedly, in every possible way, holds it for a
 * while, writes to the resource, and releases it in every possible way; or it uses `run`, several at a time. Some
 * processes also hold an uncontended lease, and some have handlers that share a lease of a provider.
 */
export async function contend(process: SimulatedProcess): Promise<void> {
  const { random, shared } = process
  // In some simulations only, and there often: on Node 20, everything during a run takes twice as long.
  if (!shared.has(RUNS)) shared.set(RUNS, random.chance(0.25))
  // From a stream of its own: the other draws of a seed stay the same.
  if (!shared.has(METADATA)) shared.set(METADATA, random.fork(1).chance(0.3))
  if (!shared.has(TTLS)) shared.set(TTLS, random.fork(3).chance(0.2))
  if (!shared.has(PREEMPTS)) shared.set(PREEMPTS, random.fork(5).chance(0.3))
  const hasRuns = shared.get(RUNS) === true
  const works = [contendForLease(process, hasRuns ? 0.6 : 0)]
  if (random.chance(0.1)) works.push(holdUncontended(process))
  if (hasRuns && random.chance(0.2)) works.push(handleRequests(process))
  await Promise.all(works)
}

/** `runs`: how often it claims the lease with `run`, from 0 to 1. */
async function contendForLease(process: SimulatedProcess, runs: number): Promise<void> {
  const { random } = process
  const metadata = countedMetadata(process)
  // A lease is then handed off to another ttl, more often than not.
  const stretch = process.shared.get(TTLS) === true ? random.fork(4).pick([1, 0.75, 0.5]) : 1
  const createLease = (): StoreLease => process.createLease(LEASE_NAME, stretch)
  const lease = stretch === 1 ? process.lease : createLease()
  const ttl = lease.settings.timeouts.heartbeatTimeout
  const contender = { process, ttl, lease, createLease, metadata, draws: random.fork(6) }
  while (!process.signal.aborted) {
    await expectLeaseErrors(async () => {
      if (random.chance(runs)) await contendWithRuns(contender)
      else if (await claim(contender)) await hold(contender)
    })
    await process.sleep(ttl * random.magnitude(-7, -1))
  }
  await expectLeaseErrors(() => contender.lease.release(metadata()))
}

function countedMetadata({ owner, random, shared }: SimulatedProcess): Contender['metadata'] {
  const draws = random.fork(2)
  let count = 0
  return () => {
    if (shared.get(METADATA) !== true || draws.chance(0.5)) return {}
    count += 1
    return { metadata: { by: owner, count: String(count) } }
  }
}

/** Another lease of the same store, which is lost only if its heartbeats do not reach the store. */
async function holdUncontended({ node, createLease, signal, sleep }: SimulatedProcess): Promise<void> {
  const lease = createLease(`of node ${node}`)
  while (!signal.aborted) {
    await expectLeaseErrors(() => lease.acquire({ wait: Number.POSITIVE_INFINITY, signal }))
    // Also after a failure: a store that fails at once must not be asked again at once.
    do await sleep(lease.settings.timeouts.heartbeatTimeout)
    while (lease.fencingToken !== undefined && !signal.aborted)
  }
  await expectLeaseErrors(() => lease.release())
}

/** Independent handlers get the same lease from a provider, and run their work under it. */
async function handleRequests(process: SimulatedProcess): Promise<void> {
  const { clock } = process
  const provider = new LeaseProvider(
    { requests: { 'lease-class': 'simulated' } },
    { simulated: () => process.createLease() },
    { clock, logger: silentLogger },
  )
  await Promise.all(Array.from({ length: HANDLERS }, () => handle(process, provider)))
  await provider.close()
}

async function handle(process: SimulatedProcess, provider: LeaseProvider): Promise<void> {
  const { owner, random, signal, sleep } = process
  while (!signal.aborted) {
    const lease = await provider.getLease(LEASE_NAME, 'requests', owner)
    if (!(lease instanceof StoreLease))
      throw new TypeError('the provider returned another lease than its factory created')
    const ttl = lease.settings.timeouts.heartbeatTimeout
    const wait = random.pick([0, ttl / 2, 2 * ttl])
    await expectLeaseErrors(() => lease.run(() => sleep(ttl * random.magnitude(-6, -1)), { wait, signal }))
    await sleep(ttl * random.magnitude(-5, 0))
  }
}

async function claim({ process, ttl, lease, metadata, draws }: Contender): Promise<boolean> {
  const { random, signal } = process
  const offer = process.takeOffer()
  if (offer !== undefined && lease.state === 'idle' && offer.owner === process.owner) return await lease.adopt(offer)
  const wait = random.pick([0, 0, ttl / 2, 3 * ttl, Number.POSITIVE_INFINITY])
  switch (random.whole(0, 5)) {
    case 0: {
      const both = await Promise.all([lease.acquire({ wait, signal }), lease.acquire({ wait: ttl / 3, signal })])
      return both.some(Boolean)
    }
    case 1: {
      const cancelled = new AbortController()
      const acquire = () => lease.acquire({ wait: Math.min(wait, 3 * ttl), signal: cancelled.signal })
      return await withTimer(process, ttl * random.magnitude(-9, 0), () => cancelled.abort(), acquire)
    }
    case 2: {
      const release = () => void lease.release().catch(() => {})
      const acquire = () => lease.acquire({ wait, signal })
      return await withTimer(process, ttl * random.magnitude(-9, -3), release, acquire)
    }
    default:
      return await lease.acquire({ wait, signal, ...metadata(), ...preemption(process, draws, wait, ttl) })
  }
}

/** Some challengers that wait have the lease of the holder broken; with any period, also one that is too short. */
function preemption(
  { shared }: SimulatedProcess,
  draws: Random,
  wait: number,
  ttl: number,
): Pick<AcquireOptions, 'preempt'> {
  if (wait === 0 || shared.get(PREEMPTS) !== true || draws.chance(0.5)) return {}
  return { preempt: { period: ttl * draws.pick([0, 0.2, 0.6]), when: () => draws.chance(0.5) } }
}

async function hold(contender: Contender): Promise<void> {
  const { process, ttl, lease } = contender
  const { clock, random, signal } = process
  const until = clock.now() + ttl * random.magnitude(-5, 1.5)
  while (clock.now() < until && !signal.aborted && lease.fencingToken !== undefined) {
    if (lease.checkLease()) process.write(lease).catch(() => {})
    const { metadata } = contender.metadata()
    if (metadata !== undefined) lease.update(metadata).catch(() => {})
    const isManual = lease.settings.timeouts.strategy.isManual === true
    if (isManual || (process.shared.get(PREEMPTS) === true && contender.draws.chance(0.3)))
      lease.renew().catch(() => {})
    await process.sleep(ttl / random.between(4, 10))
  }
  await leave(contender)
}

async function leave(contender: Contender): Promise<void> {
  const { process, lease } = contender
  switch (process.random.whole(0, 7)) {
    case 0:
      await Promise.all([lease.release(), lease.release()])
      return
    case 1:
      return await replaceLease(contender)
    case 2:
      return await handOff(contender)
    case 3:
      // The lease stays held: the next claim returns true at once.
      return
    default:
      await lease.release(contender.metadata())
  }
}
