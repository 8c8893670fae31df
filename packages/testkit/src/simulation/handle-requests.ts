import { LeaseProvider, StoreLease } from '@leasehold/core'
import { silentLogger } from '../silent-logger.js'
import { expectLeaseErrors } from './expected-errors.js'
import { LEASE_NAME, type SimulatedProcess } from './workload.js'

/** How many handlers a process has. */
const HANDLERS = 2

/** Independent handlers get the same lease from a provider, and run their work under it. */
export async function handleRequests(process: SimulatedProcess): Promise<void> {
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
