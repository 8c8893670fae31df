import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUpHeld, silentLogger, TTL } from '../support/held-lease.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 9: heartbeats have jitter, and leases of one store are renewed together', () => {
  it('jitter spreads the heartbeats, and never makes one later than planned', async () => {
    const instants = new Set<number>()
    for (const random of [0, 0.25, 0.5, 0.75, 0.999]) {
      const { clock, store } = await setUpHeld({ random: () => random })
      while (store.count('renew') === 0) await clock.advance(1)
      const first = clock.now()
      instants.add(first)
      store.last('renew').answer('yes')
      expect(first).toBeLessThanOrEqual(INTERVAL)
      // The first one is spread most: leases that were acquired together would stay together.
      expect(first).toBeGreaterThanOrEqual(INTERVAL * 0.25 * 0.95 - 1)
      while (store.count('renew') === 1) await clock.advance(1)
      expect(clock.now() - first).toBeLessThanOrEqual(INTERVAL)
      expect(clock.now() - first).toBeGreaterThanOrEqual(INTERVAL * 0.95 - 1)
    }
    expect(instants.size).toBe(5)
  })

  it('one call to the store renews the leases that are due together', async () => {
    vi.restoreAllMocks()
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const renewMany = vi.spyOn(store, 'renewMany')
    const renew = vi.spyOn(store, 'renew')
    const leases = Array.from({ length: 1_000 }, (_, place) =>
      createLease(store, `job-${place}`, {
        heartbeatTimeout: TTL,
        heartbeatInterval: INTERVAL,
        operationTimeout: LIMIT,
        clock,
        logger: silentLogger,
      }),
    )
    await Promise.all(leases.map((lease) => lease.acquire()))
    await clock.advance(3 * TTL)
    expect(leases.every((lease) => lease.checkLease())).toBe(true)
    const renewed = renewMany.mock.calls.reduce((sum, [grants]) => sum + grants.length, 0)
    expect(renewed).toBeGreaterThan(1_000 * 29)
    expect(renewMany.mock.calls.length).toBeLessThan(renewed / 10)
    expect(renew).not.toHaveBeenCalled()
  })
})
