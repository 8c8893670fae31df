import { type Clock, createLease, type Grant, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

const LEASES = 1_000
const MINUTE = 60_000
const INTERVAL = 12_000

/** A clock that notes when its timers fire. Those that are due together wake the process once. */
function watchTimers(clock: VirtualClock): { clock: Clock; wakeUps: Set<number> } {
  const wakeUps = new Set<number>()
  const watched: Clock = {
    now: () => clock.now(),
    schedule: (delay, callback) =>
      clock.schedule(delay, () => {
        if (delay > 0) wakeUps.add(clock.now())
        callback()
      }),
  }
  return { clock: watched, wakeUps }
}

describe('a process that only holds a thousand leases, all acquired in the same instant', () => {
  it('wakes up once for each batch of heartbeats, and spreads them evenly over the seconds', async () => {
    const time = new VirtualClock()
    const { clock, wakeUps } = watchTimers(time)
    const store = new MemoryLeaseStore({ clock: time })
    const renewMany = store.renewMany.bind(store)
    const batches = new Set<number>()
    const perSecond = new Map<number, number>()
    store.renewMany = (grants: readonly Grant[], call) => {
      const second = Math.floor(time.now() / 1_000)
      batches.add(time.now())
      perSecond.set(second, (perSecond.get(second) ?? 0) + grants.length)
      return renewMany(grants, call)
    }
    let drawn = 1
    const random = (): number => {
      drawn = (drawn * 48_271) % 2_147_483_647
      return drawn / 2_147_483_647
    }
    const leases: StoreLease[] = []
    for (let place = 0; place < LEASES; place += 1) {
      const lease = createLease(store, `lease ${place}`, { clock, random, logger: silentLogger })
      await lease.acquire()
      leases.push(lease)
    }

    // Until each has been renewed once.
    await time.advance(INTERVAL)
    for (const seen of [wakeUps, batches, perSecond]) seen.clear()
    await time.advance(MINUTE)

    expect(leases.every((lease) => lease.checkLease())).toBe(true)
    const heartbeats = [...perSecond.values()]
    const sum = heartbeats.reduce((total, count) => total + count, 0)
    expect(sum).toBeGreaterThan(4 * LEASES)
    expect(wakeUps.size).toBeLessThanOrEqual(batches.size)
    expect(Math.max(...heartbeats)).toBeLessThanOrEqual((2 * sum) / 60)
  })
})
