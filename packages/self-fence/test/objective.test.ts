import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../core/test/support/held-lease.js'

describe('a self-fenced lease with an objective', () => {
  it('keeps its first ttl, learns, and forecasts with the validity that the fence leaves', async () => {
    const objective = { failover: 5_000, falseLossesPerYear: 1 }
    const lease = createLease(new MemoryLeaseStore(), 'job', { objective, selfFence: 'kill', logger: silentLogger })
    // A lease that stays held, on a busy machine, would end the process of the tests.
    onTestFinished(async () => void (await lease.release()))
    expect(await lease.acquire()).toBe(true)
    for (let heartbeat = 0; heartbeat < 40; heartbeat += 1) await lease.renew()
    // Whether the objective is kept depends on the machine.
    expect(lease.advice).toMatchObject({ heartbeatTimeout: 4_500, forecast: expect.any(Number) })
    // 4 455 ms without a fence; it takes 325 ms to acknowledge a loss and to end the process.
    expect(lease.remaining).toBeLessThanOrEqual(4_500 * 0.99 - 25 - 315)
  })

  it('throws for a fail-over that leaves no time to end the process, and says what to raise', () => {
    const objective = { failover: 1_000, falseLossesPerYear: 1 }
    const make = () => createLease(new MemoryLeaseStore(), 'job', { objective, selfFence: 'kill' })
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow('raise objective.failover to at least 1112 ms, or leave selfFence out')
  })
})
