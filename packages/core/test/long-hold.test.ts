import { type CreateLeaseOptions, createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

const TTL = 10_000

async function hold(options: CreateLeaseOptions = {}) {
  const clock = new VirtualClock()
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) }
  const store = new MemoryLeaseStore({ clock })
  const lease = createLease(store, 'job', { owner: 'me', heartbeatTimeout: TTL, clock, logger, ...options })
  await lease.acquire()
  return { clock, lease, warnings }
}

describe('a grant that is held for more than 100 ttls without maxHold', () => {
  it('is reported once, at a heartbeat', async () => {
    const { clock, lease, warnings } = await hold()
    await clock.advance(99 * TTL)
    expect(warnings).toEqual([])
    await clock.advance(2 * TTL)
    expect(warnings).toEqual([expect.stringMatching(/^lease 'job' of 'me': held for more than 100 .* Set maxHold/)])
    await clock.advance(110 * TTL)
    expect(warnings.length).toBe(1)
    expect(lease.checkLease()).toBe(true)
  })

  it('is reported again for the next grant, counted from its own beginning', async () => {
    const { clock, lease, warnings } = await hold()
    await clock.advance(101 * TTL)
    await lease.release()
    await lease.acquire()
    await clock.advance(99 * TTL)
    expect(warnings.length).toBe(1)
    await clock.advance(2 * TTL)
    expect(warnings.length).toBe(2)
  })

  it('is not reported where maxHold is set, though it is longer', async () => {
    const { clock, lease, warnings } = await hold({ maxHold: 1_000 * TTL })
    await clock.advance(150 * TTL)
    expect([warnings, lease.checkLease()]).toEqual([[], true])
  })

  it('is not reported for a lease that does not expire', async () => {
    const { clock, lease, warnings } = await hold({ heartbeatTimeout: Number.POSITIVE_INFINITY })
    await clock.advance(24 * 3_600_000)
    expect([warnings, lease.checkLease()]).toEqual([[], true])
  })
})
