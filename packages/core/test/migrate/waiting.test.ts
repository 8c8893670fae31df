import { createLease, type LeaseStore, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { viewOf } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'
import { call, granted, intercepted, NAME, requestOf, TTL } from './two-stores.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }

/** More requests than any test makes. */
const ENDLESS = 2_000

function setUp() {
  const clock = new VirtualClock()
  const from = new MemoryLeaseStore({ clock })
  const to = new MemoryLeaseStore({ clock })
  let calls = 0
  const counted = (store: LeaseStore) =>
    intercepted(store, (method) => {
      if (method !== 'acquire') return
      calls += 1
      // Waiters that ask without a pause would keep virtual time from going on.
      if (calls > ENDLESS) throw new Error('the waiters ask without end')
    })
  const both = migrate(counted(from), counted(to))
  const order: string[] = []
  /** Waits for its turn, holds for a second, and gives way. */
  const waiter = async (store: LeaseStore, owner: string): Promise<void> => {
    const lease = createLease(store, NAME, { ...times, owner, clock, logger: silentLogger })
    if (!(await lease.acquire({ wait: 20 * TTL }))) return
    order.push(owner)
    await new Promise<void>((resolve) => clock.schedule(1_000, resolve))
    await lease.release()
  }
  const holder = (store: LeaseStore): StoreLease => {
    return createLease(store, NAME, { ...times, owner: 'holder', clock, logger: silentLogger })
  }
  return { clock, from, to, both, order, waiter, holder, counted, calls: () => calls }
}

describe('waiters with both stores', () => {
  it.each(['from', 'both'] as const)(
    'are served in the order of the queue of from, after a holder with %s',
    async (by) => {
      const stores = setUp()
      const { clock, both, order, waiter, holder } = stores
      const lease = holder(stores[by])
      const acquired = lease.acquire()
      await clock.settle()
      expect(await acquired).toBe(true)
      const owners = Array.from({ length: 5 }, (_, place) => `waiter ${place}`)
      for (const owner of owners) {
        void waiter(both, owner)
        await clock.advance(10)
      }
      const released = lease.release()
      await clock.advance(owners.length * 1_000 + 100)
      await released
      expect(order).toEqual(owners)
    },
  )

  it('that the new store refuses ask seldom, however long its holder holds', async () => {
    const { clock, to, both, order, waiter, holder, calls } = setUp()
    const lease = holder(to)
    const acquired = lease.acquire()
    await clock.settle()
    await acquired
    for (let place = 0; place < 5; place += 1) void waiter(both, `waiter ${place}`)
    await clock.advance(10 * TTL)
    // Each asks both stores every quarter to half of a ttl, and now and then finds another one in the old store.
    expect(calls()).toBeLessThan(5 * 2 * 40 * 2)
    expect(order).toEqual([])
    const released = lease.release()
    await clock.advance(5_500)
    await released
    expect(order).toHaveLength(5)
  })

  it('that the new store refuses do not wake each other in an old store without a queue', async () => {
    const { clock, from, to, waiter, holder, calls, counted } = setUp()
    const lease = holder(to)
    const acquired = lease.acquire()
    await clock.settle()
    await acquired
    // Each grant and each release wakes all.
    const unordered = viewOf(counted(from), {
      limits: (own) => ({ ...own, ordered: false }),
      watch: () => (name, own) => from.watch(name, own),
    })
    for (let place = 0; place < 5; place += 1) void waiter(migrate(unordered, to), `waiter ${place}`)
    await clock.advance(TTL)
    expect(calls()).toBeLessThan(5 * 2 * 4 * 2)
  })

  it('are served between new processes that hold one after the other', async () => {
    const { clock, to, both, order, waiter, holder } = setUp()
    const lease = holder(to)
    const acquired = lease.acquire()
    await clock.settle()
    await acquired
    for (let place = 0; place < 3; place += 1) {
      void waiter(to, `new ${place}`)
      await clock.advance(10)
      void waiter(both, `migrating ${place}`)
      await clock.advance(10)
    }
    const released = lease.release()
    await clock.advance(6_500)
    await released
    // One of those with both waits for the new store at a time: it has the name in the old store already.
    expect(order).toEqual(['new 0', 'migrating 0', 'new 1', 'new 2', 'migrating 1', 'migrating 2'])
  })

  it('to which the lease is handed over is granted it in both stores, as soon as it is notified', async () => {
    const { clock, from, to, both } = setUp()
    const holder = await granted(both, 'holder')
    await both.acquire(requestOf('waiter', { queue: true }), call)
    const notified = (async () => {
      for await (const _ of both.watch?.(NAME, call, requestOf('waiter').grantId) ?? []) {
        return await Promise.all([from.read(NAME), to.read(NAME)])
      }
      return []
    })()
    await clock.settle()
    await both.change?.(holder, requestOf('waiter'), call)
    for (const record of await notified) expect(record?.owner).toBe('waiter')
  })

  it('leave both queues when they give up', async () => {
    const { clock, from, to, both, holder } = setUp()
    const lease = holder(to)
    const acquired = lease.acquire()
    await clock.settle()
    await acquired
    const waiting = createLease(both, NAME, { ...times, clock, logger: silentLogger }).acquire({ wait: 2_000 })
    await clock.advance(1_000)
    expect((await to.read(NAME))?.waiters).toBe(1)
    await clock.advance(1_500)
    expect(await waiting).toBe(false)
    expect((await to.read(NAME))?.waiters).toBe(0)
    expect((await from.read(NAME))?.waiters).toBe(0)
  })
})
