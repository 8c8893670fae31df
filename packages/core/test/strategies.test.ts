import { createLease, MemoryLeaseStore, type TimeoutOptions, TimeoutSettings } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { validityOf } from '../src/time/validity.js'
import { silentLogger } from './support/held-lease.js'

const TTL = 60_000
const LIMIT = 2_000

function planOf(
  strategy: TimeoutOptions['strategy'],
  jitter: number,
  options = {},
): { after: number; attemptTimeout: number } {
  const settings = new TimeoutSettings({ strategy, heartbeatTimeout: TTL, operationTimeout: LIMIT, ...options })
  return settings.strategy.plan(settings, jitter)
}

describe('renewal strategies', () => {
  it('interval renews every heartbeatInterval', () => {
    expect(planOf('interval', 0)).toEqual({ after: 6_000, attemptTimeout: LIMIT })
  })

  it('eager renews at half the ttl', () => {
    expect(planOf('eager', 0)).toEqual({ after: TTL / 2, attemptTimeout: LIMIT })
  })

  it('lazy renews at 90 % of the ttl', () => {
    expect(planOf('lazy', 0)).toEqual({ after: 0.9 * TTL, attemptTimeout: LIMIT })
  })

  it('lazy renews early enough for two full attempts when 90 % is too late', () => {
    const { after } = planOf('lazy', 0, { operationTimeout: 10_000 })
    expect(after).toBeLessThan(0.9 * TTL)
    expect(validityOf(TTL) - after).toBeGreaterThanOrEqual(2 * 10_000)
  })

  it('adaptive assumes the full operation timeout until it has observed attempts', () => {
    const { after, attemptTimeout } = planOf('adaptive', 0)
    expect(attemptTimeout).toBe(LIMIT)
    expect(after).toBe(validityOf(TTL) - 3 * LIMIT)
  })

  it('adaptive renews as late as possible with time for three attempts at the p99 latency', () => {
    const settings = new TimeoutSettings({ strategy: 'adaptive', heartbeatTimeout: TTL, operationTimeout: LIMIT })
    for (let latency = 1; latency <= 100; latency += 1) settings.strategy.observe?.(latency)
    const { after, attemptTimeout } = settings.strategy.plan(settings, 0)
    expect(attemptTimeout).toBeGreaterThanOrEqual(99)
    expect(attemptTimeout).toBeLessThan(200)
    expect(validityOf(TTL) - after).toBeGreaterThanOrEqual(3 * 99)
    for (let count = 0; count < 10; count += 1) settings.strategy.observe?.(1_500)
    expect(settings.strategy.plan(settings, 0).after).toBeLessThan(after)
  })

  it.each(['interval', 'eager', 'lazy', 'adaptive'] as const)(
    '%s: jitter spreads heartbeats, never delays them, and leaves time for two attempts',
    (strategy) => {
      const latest = planOf(strategy, 0)
      const jitter = fc.double({ min: 0, max: 1, noNaN: true })
      fc.assert(
        fc.property(jitter, fc.integer({ min: 100, max: 25_000 }), (random, operationTimeout) => {
          const { after, attemptTimeout } = planOf(strategy, random, { operationTimeout, heartbeatInterval: 5_000 })
          expect(after).toBeGreaterThan(0)
          expect(after).toBeLessThanOrEqual(planOf(strategy, 0, { operationTimeout, heartbeatInterval: 5_000 }).after)
          expect(validityOf(TTL) - after).toBeGreaterThanOrEqual(2 * attemptTimeout)
        }),
      )
      expect(planOf(strategy, 0.5).after).toBeLessThan(latest.after)
    },
  )

  it.each(['interval', 'eager', 'lazy', 'adaptive'] as const)(
    '%s keeps a lease for an hour when the first attempt of each heartbeat hangs',
    async (strategy) => {
      const clock = new VirtualClock()
      const store = new MemoryLeaseStore({ clock })
      const renew = store.renewMany.bind(store)
      let calls = 0
      vi.spyOn(store, 'renewMany').mockImplementation((grants, signal) => {
        calls += 1
        return calls % 2 === 1 ? new Promise(() => {}) : renew(grants, signal)
      })
      const times = { strategy, heartbeatTimeout: TTL, operationTimeout: LIMIT }
      const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
      const losses: unknown[] = []
      await lease.acquire({ onLost: (lost) => losses.push(lost) })
      for (let minute = 0; minute < 60; minute += 1) {
        await clock.advance(60_000)
        expect(lease.checkLease()).toBe(true)
      }
      expect(losses).toEqual([])
    },
  )

  it('a user strategy with late or invalid plans costs heartbeats but no validity', async () => {
    for (const after of [1e12, Number.NaN, -5, 0]) {
      const clock = new VirtualClock()
      const store = new MemoryLeaseStore({ clock })
      const strategy = { name: 'own', check: () => undefined, plan: () => ({ after, attemptTimeout: LIMIT }) }
      const lease = createLease(store, 'job', { strategy, heartbeatTimeout: TTL, clock, logger: silentLogger })
      await lease.acquire()
      await clock.advance(10 * TTL)
      expect(lease.checkLease()).toBe(true)
    }
  })
})
