import assert from 'node:assert'
import { test } from 'node:test'
import { TestLease } from '@leasehold/testkit'

/** Your code: it saves only while it holds the lease. */
async function saveReport(lease, compute, save) {
  const report = await compute()
  if (lease.checkLease()) await save(report, lease.fencingToken)
}

test('saves nothing after the lease was lost', async () => {
  const lease = new TestLease()
  await lease.acquire()
  const saved = []
  await saveReport(
    lease,
    () => lease.lose('expired'),
    (report) => saved.push(report),
  )
  assert.deepEqual(saved, [])
})
