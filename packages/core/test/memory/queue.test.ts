import type { AcquireOutcome, AcquireRequest } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'
import { guidOf } from '../support/guid-of.js'

const NAME = 'invoices'
const TTL = 15_000

class Queue {
  readonly clock = new VirtualClock()
  readonly store = new MemoryLeaseStore({ clock: this.clock })

  /** A request whose grant id is the name of its owner. */
  ask(waiter: string, request: Partial<AcquireRequest> = {}): Promise<AcquireOutcome> {
    return this.store.acquire({ name: NAME, owner: waiter, grantId: guidOf(waiter), ttl: TTL, queue: true, ...request })
  }

  async isGranted(waiter: string, request: Partial<AcquireRequest> = {}): Promise<boolean> {
    const { granted } = await this.ask(waiter, request)
    return granted
  }

  async release(waiter: string): Promise<void> {
    await this.store.release({ name: NAME, owner: waiter, grantId: guidOf(waiter), fencingToken: 1n, ttl: TTL })
  }
}

/** The lease is held by `holder` without end, and the others stand in line. */
async function queueOf(...waiters: readonly string[]): Promise<Queue> {
  const queue = new Queue()
  await queue.ask('holder', { ttl: Number.POSITIVE_INFINITY })
  for (const waiter of waiters) await queue.ask(waiter)
  return queue
}

describe('the queue', () => {
  it('is served first come, first served', async () => {
    const queue = await queueOf('a', 'b', 'c')
    await queue.release('holder')
    const order: string[] = []
    for (let round = 0; round < 3; round += 1) {
      for (const waiter of ['c', 'b', 'a']) {
        if (order.includes(waiter) || !(await queue.isGranted(waiter))) continue
        order.push(waiter)
        await queue.release(waiter)
      }
    }
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it("refuses a free name while it is another waiter's turn, without a holder", async () => {
    const queue = await queueOf('a', 'b')
    await queue.release('holder')
    expect(await queue.ask('b')).toEqual({ granted: false })
    expect(await queue.ask('stranger', { queue: false })).toEqual({ granted: false })
    expect(await queue.store.acquire({ name: NAME, owner: 'stranger', ttl: TTL })).toEqual({ granted: false })
    expect(await queue.isGranted('a')).toBe(true)
  })

  it.each(['broken', 'expired', 'deleted'] as const)('is kept when the lease is %s', async (how) => {
    const queue = await queueOf()
    await queue.release('holder')
    await queue.ask('holder')
    await queue.clock.advance(TTL / 2)
    await queue.ask('a')
    if (how === 'broken') await queue.store.break(NAME, { period: 0 })
    if (how === 'expired') await queue.clock.advance(TTL / 2)
    if (how === 'deleted') await queue.store.delete(NAME)
    expect(await queue.isGranted('stranger', { queue: false })).toBe(false)
    expect(await queue.isGranted('holder')).toBe(false)
    expect(await queue.isGranted('a')).toBe(true)
  })

  it('a request that repeats its place keeps it', async () => {
    const queue = await queueOf('a', 'b')
    for (let times = 0; times < 10; times += 1) {
      await queue.clock.advance(TTL - 1)
      await queue.ask('b')
      await queue.ask('a')
    }
    await queue.release('holder')
    expect(await queue.isGranted('b')).toBe(false)
    expect(await queue.isGranted('a')).toBe(true)
  })

  it('a waiter that has withdrawn has no place', async () => {
    const queue = await queueOf('a', 'b')
    await queue.store.withdraw(NAME, guidOf('a'))
    await queue.store.withdraw(NAME, guidOf('stranger'))
    await queue.store.withdraw('elsewhere', 'a')
    await queue.release('holder')
    expect(await queue.isGranted('b')).toBe(true)
  })

  it('a waiter that is granted has no place any more', async () => {
    const queue = await queueOf('a', 'b')
    await queue.release('holder')
    await queue.ask('a')
    await queue.release('a')
    expect(await queue.isGranted('a')).toBe(false)
    expect(await queue.isGranted('b')).toBe(true)
  })

  it('a waiter that the lease was passed on to has no place any more', async () => {
    const queue = await queueOf('a', 'b')
    const holder = { name: NAME, owner: 'holder', grantId: guidOf('holder'), fencingToken: 1n, ttl: TTL }
    expect(await queue.store.change(holder, { grantId: guidOf('a'), owner: 'a' })).toMatchObject({ granted: true })
    await queue.release('a')
    expect(await queue.isGranted('b')).toBe(true)
  })

  it('a refused request without `queue` gets no place', async () => {
    const queue = await queueOf()
    await queue.ask('a', { queue: false })
    await queue.ask('b')
    await queue.release('holder')
    expect(await queue.isGranted('a', { queue: false })).toBe(false)
    expect(await queue.isGranted('b')).toBe(true)
  })

  it('a request without a grant id gets no place: it could not be repeated', async () => {
    const queue = await queueOf()
    await queue.store.acquire({ name: NAME, owner: 'owner', ttl: TTL, queue: true })
    await queue.release('holder')
    expect(await queue.isGranted('a')).toBe(true)
  })

  it('of another name is separate', async () => {
    const queue = await queueOf('a')
    expect(await queue.isGranted('b', { name: 'orders', queue: false })).toBe(true)
  })

  it('does not hold up a heartbeat of the holder, also where it comes late', async () => {
    const queue = await queueOf()
    await queue.release('holder')
    await queue.ask('holder')
    await queue.ask('a', { ttl: 2 * TTL })
    await queue.clock.advance(TTL)
    const holder = { name: NAME, owner: 'holder', grantId: guidOf('holder'), fencingToken: 2n, ttl: TTL }
    expect(await queue.store.renew(holder)).toEqual({ renewed: true })
    expect(await queue.isGranted('a')).toBe(false)
  })
})

describe('a place that is not repeated', () => {
  it('is alive until its ttl is over, and not longer', async () => {
    const queue = await queueOf('a')
    await queue.release('holder')
    await queue.clock.advance(TTL - 1)
    expect(await queue.isGranted('stranger', { queue: false })).toBe(false)
    await queue.clock.advance(1)
    expect(await queue.isGranted('stranger', { queue: false })).toBe(true)
  })

  it('is alive for 60 s where the lease would never expire', async () => {
    const queue = await queueOf()
    await queue.ask('a', { ttl: Number.POSITIVE_INFINITY })
    await queue.release('holder')
    await queue.clock.advance(59_999)
    expect(await queue.isGranted('stranger', { queue: false })).toBe(false)
    await queue.clock.advance(1)
    expect(await queue.isGranted('stranger', { queue: false })).toBe(true)
  })

  it('is skipped, at the head and behind it', async () => {
    const queue = await queueOf('dead', 'a', 'dead too', 'b')
    await queue.clock.advance(TTL - 1)
    await queue.ask('a')
    await queue.ask('b')
    await queue.clock.advance(1)
    await queue.release('holder')
    expect(await queue.isGranted('b')).toBe(false)
    expect(await queue.isGranted('a')).toBe(true)
    await queue.release('a')
    expect(await queue.isGranted('b')).toBe(true)
  })

  it('is lost: a later request goes to the end', async () => {
    const queue = await queueOf('a')
    await queue.clock.advance(TTL - 1)
    await queue.ask('b')
    await queue.clock.advance(1)
    await queue.ask('a')
    await queue.release('holder')
    expect(await queue.isGranted('a')).toBe(false)
    expect(await queue.isGranted('b')).toBe(true)
  })
})

describe('a queue of 10,000', () => {
  it('is served in order, each time to the first alone', async () => {
    const waiters = Array.from({ length: 10_000 }, (_, place) => `waiter ${place}`)
    const queue = await queueOf(...waiters)
    await queue.release('holder')
    for (const [place, waiter] of waiters.entries()) {
      const next = waiters[place + 1]
      if (next !== undefined && (await queue.isGranted(next))) expect.fail(`${next} overtook ${waiter}`)
      if (!(await queue.isGranted(waiter))) expect.fail(`${waiter} is first and was refused`)
      await queue.release(waiter)
    }
    expect(await queue.isGranted('stranger', { queue: false })).toBe(true)
  })

  it('can withdraw one after the other', async () => {
    const waiters = Array.from({ length: 10_000 }, (_, place) => `waiter ${place}`)
    const queue = await queueOf(...waiters)
    await queue.release('holder')
    for (const waiter of waiters) await queue.store.withdraw(NAME, guidOf(waiter))
    expect(await queue.isGranted('stranger', { queue: false })).toBe(true)
  })
})
