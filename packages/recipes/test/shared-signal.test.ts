import { getEventListeners } from 'node:events'
import { MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection, LeaseManager, ReadWriteLease, Semaphore } from '@leasehold/recipes'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const MANY = 20

const job = (clock: VirtualClock): Promise<void> => new Promise((resolve) => clock.schedule(10_000, resolve))

/** A row: the recipe, and a wait of it that only ends with the signal. Node warns from the eleventh listener on. */
describe('many waits that share a signal add a fixed number of listeners, and leave none', () => {
  it.each<[string, (store: MemoryLeaseStore, clock: VirtualClock, signal: AbortSignal) => Promise<unknown>]>([
    [
      'LeaderElection',
      async (store, clock, signal) => {
        for await (const _ of new LeaderElection(store, { name: 'leader', clock }).observe(signal));
      },
    ],
    [
      'LeaseManager',
      (store, clock, signal) =>
        new LeaseManager(store, { name: 'jobs', clock }).processEach(['a'], () => job(clock), { signal }),
    ],
    [
      'Semaphore',
      (store, clock, signal) =>
        new Semaphore(store, { name: 'permits', permits: 1, clock }).acquire({ wait: 600_000, signal }),
    ],
    [
      'ReadWriteLease',
      (store, clock, signal) =>
        new ReadWriteLease(store, { name: 'data', readers: 2, clock }).exclusive.acquire({ wait: 600_000, signal }),
    ],
  ])('%s', async (_, wait) => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    await new Semaphore(store, { name: 'permits', permits: 1, clock }).acquire()
    await new ReadWriteLease(store, { name: 'data', readers: 2, clock }).shared.acquire()
    const controller = new AbortController()
    const waiting = Array.from({ length: MANY }, () => wait(store, clock, controller.signal).catch(() => {}))
    await clock.advance(1_000)
    const listeners = getEventListeners(controller.signal, 'abort').length
    expect(listeners).toBeGreaterThan(0)
    expect(listeners).toBeLessThan(4)
    controller.abort()
    await Promise.all([clock.advance(60_000), ...waiting])
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })
})
