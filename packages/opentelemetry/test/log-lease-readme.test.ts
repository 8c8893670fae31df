import { breakLease, createLease, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { logChanges } from './readme/log-lease.js'

it('the log of the guide has a line for each change', async () => {
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'billing', { owner: 'a' })
  const lines: object[] = []
  logChanges(lease, (line) => lines.push(line))
  await lease.acquire()
  await lease.release()
  await lease.acquire()
  await breakLease(store, 'billing', { period: 0 })
  await lease.renew()
  expect(lines).toMatchObject([
    { event: 'acquired', lease: 'billing', owner: 'a', fencingToken: '1' },
    { event: 'released' },
    { event: 'acquired', fencingToken: '2' },
    { event: 'lost', reason: 'broken' },
  ])
})
