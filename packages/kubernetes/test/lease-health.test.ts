import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { leaseHealth } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const DURATION = 15_000

async function setUp(tolerance?: number) {
  const clock = new VirtualClock()
  const times = { heartbeatTimeout: DURATION, heartbeatInterval: 2_000, operationTimeout: 1_000 }
  const lease = createLease(new MemoryLeaseStore({ clock }), 'job', { ...times, clock, logger: silentLogger })
  const check = leaseHealth(lease, { clock, ...(tolerance === undefined ? {} : { tolerance }) })
  return { clock, lease, check }
}

describe('the health of a process that', () => {
  it('does not hold the lease is healthy, for any time', async () => {
    const { clock, check } = await setUp()
    await clock.advance(100 * DURATION)
    expect(check()).toEqual({ healthy: true })
  })

  it('holds the lease and renews it is healthy', async () => {
    const { clock, lease, check } = await setUp()
    await clock.advance(5 * DURATION)
    await lease.acquire()
    await clock.advance(20 * DURATION)
    expect(check()).toEqual({ healthy: true })
  })

  it('holds the lease and hangs is unhealthy once its heartbeat is overdue by more than the duration', async () => {
    const { clock, lease, check } = await setUp()
    await lease.acquire()
    clock.block(DURATION)
    expect(check()).toEqual({ healthy: true })
    clock.block(1)
    expect(check()).toEqual({
      healthy: false,
      reason: expect.stringContaining("lease 'job' is held, but was not renewed for 15 s"),
    })
  })

  it('holds the lease and hangs is healthy within the tolerance', async () => {
    const { clock, lease, check } = await setUp(10_000)
    await lease.acquire()
    clock.block(DURATION + 10_000)
    expect(check().healthy).toBe(true)
    clock.block(1)
    expect(check().healthy).toBe(false)
  })

  it('noticed the loss, or released the lease, is healthy', async () => {
    const { clock, lease, check } = await setUp()
    await lease.acquire()
    clock.block(2 * DURATION)
    expect(check().healthy).toBe(false)
    await clock.settle()
    expect(check().healthy).toBe(true)
    await lease.acquire()
    await lease.release()
    await clock.advance(2 * DURATION)
    expect(check().healthy).toBe(true)
  })
})
