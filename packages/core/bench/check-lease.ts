import { createLease, MemoryLeaseStore } from '@leasehold/core'
import type { Measurement } from './support/measurement.js'

const CHECKS = 2_000_000

export async function measureCheckLease(): Promise<readonly Measurement[]> {
  const lease = createLease(new MemoryLeaseStore(), 'bench')
  await lease.acquire()
  let held = 0
  const start = performance.now()
  for (let check = 0; check < CHECKS; check += 1) if (lease.checkLease()) held += 1
  const nanoseconds = ((performance.now() - start) / CHECKS) * 1e6
  await lease.release()
  if (held !== CHECKS) throw new Error(`the lease was held at ${held} of ${CHECKS} checks`)
  return [{ what: 'checkLease', value: nanoseconds, unit: 'ns', atMost: 1_000 }]
}
