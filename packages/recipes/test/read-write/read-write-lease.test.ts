import { LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { ReadWriteLease } from '@leasehold/recipes'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

describe('a writer', () => {
  it.each<[string, unknown]>([
    ['a state that no record has', { name: 'prices/0', grantId: 'g', state: 'vacant' }],
    ['no grant id', { name: 'prices/0', state: 'available' }],
    ['a grant id that is a number', { name: 'prices/0', grantId: 5, state: 'available' }],
    ['nothing', {}],
  ])('is not let in by an answer with %s', async (_, answer) => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    let isAtFault = false
    const read: MemoryLeaseStore['read'] = async (name, call) =>
      isAtFault && name === 'prices/0' ? (answer as never) : await store.read(name, call)
    const over = Object.assign(new FaultyStore(store, { clock }), { read })
    const prices = new ReadWriteLease(over, { name: 'prices', readers: 2, clock })
    isAtFault = true
    await expect(prices.exclusive.acquire()).rejects.toThrow(LeaseUnavailableError)
    expect(prices.exclusive.checkLease()).toBe(false)
    const waiting = prices.exclusive.acquire({ wait: 3_600_000 })
    await clock.time.advance(60_000)
    expect(prices.exclusive.checkLease()).toBe(false)
    isAtFault = false
    await clock.time.advance(600_000)
    expect(await waiting).toBe(true)
  })
})
