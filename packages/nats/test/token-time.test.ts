import { never } from '@leasehold/testing/job-claims'
import { expect, it } from 'vitest'
import type { Bucket } from '../src/bucket.js'
import { NatsRegister } from '../src/nats-register.js'

/** The time of the next token, where the servers say that it is this time. */
async function timeAt(ts: string): Promise<bigint> {
  const bucket: Partial<Bucket> = { info: async () => ({ config: {}, state: {}, ts }) as never }
  return await new NatsRegister(bucket as Bucket, false, 2_000).timeAfter('job', 1, never)
}

// An older record can return within the millisecond of a grant.
it.each([
  ['2026-11-28T23:59:59.123456789Z', 1_795_910_399_123_457n],
  ['2026-11-28T23:59:59.1234Z', 1_795_910_399_123_401n],
  ['2026-11-28T23:59:59Z', 1_795_910_399_000_001n],
])('the time %s is counted in microseconds, and rounded up', async (ts, time) => {
  expect(await timeAt(ts)).toBe(time)
})
