import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { silentLogger } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const FAILOVER = 1_000

describe('a lease with an objective, over a heartbeat thread', () => {
  it('learns, and is kept by the thread while the event loop is blocked for longer than its ttl', async (test) => {
    const thread = new HeartbeatThread()
    test.onTestFinished(() => thread.close())
    const store = await thread.open({ leaseClass: '@leasehold/core#memoryLease' })
    const objective = { failover: FAILOVER, falseLossesPerYear: 1 }
    const lease = createLease(store, 'job', { objective, logger: silentLogger })
    expect(await lease.acquire()).toBe(true)
    for (let heartbeat = 0; heartbeat < 40; heartbeat += 1) await lease.renew()
    expect(lease.advice?.forecast).toBeDefined()
    const token = lease.fencingToken
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * FAILOVER)
    expect(lease.checkLease()).toBe(true)
    expect(await lease.renew()).toBe(true)
    expect(lease.fencingToken).toBe(token)
    // The thread has sent the heartbeats: the blocked loop is no cause of losses.
    expect(lease.advice?.kept).toBe(true)
    await lease.release()
  })
})
