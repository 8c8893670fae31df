import { type DurationAdvice, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { durationsFor } from '../readme/advise.js'
import { leaderLease } from '../readme/objective.js'

it('the examples of the guide choose durations', async () => {
  const lease = leaderLease(new MemoryLeaseStore(), expect.unreachable)
  expect(await lease.acquire()).toBe(true)
  expect((lease.advice as DurationAdvice).heartbeatTimeout).toBeLessThan(5_000)
  await lease.release()
  const fast = Array.from({ length: 200 }, (_, call) => 1 + (call % 7))
  expect(durationsFor(fast)).toMatchObject({ forecast: expect.any(Number), heartbeatTimeout: expect.any(Number) })
  const slow = fast.map((latency, call) => (call % 4 === 0 ? 1_900 : latency))
  expect(durationsFor(slow)).toMatch(
    /^p99.9 of your store is 1.9 s: 5 s would cost .* false losses a year, not 1; allow more/,
  )
})
