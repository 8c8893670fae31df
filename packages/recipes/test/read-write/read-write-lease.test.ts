import { breakLease, LeaseUnavailableError, MemoryLeaseStore, readLease } from '@leasehold/core'
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

describe('a writer that comes after a reader had to wait', () => {
  it('leaves no mark of the wait, so that the next reader looks at all slots at once', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const create = (owner: string) => new ReadWriteLease(store, { name: 'prices', readers: 1, owner, clock })
    const [first, second, writer] = [create('first'), create('second'), create('writer')]
    await first.shared.acquire()
    const waiting = second.shared.acquire({ wait: 60_000 })
    await clock.time.advance(1_000)
    expect((await readLease(store, 'prices', { clock }))?.metadata).toMatchObject({ full: 'yes' })
    await first.shared.release()
    await clock.time.advance(1_000)
    expect(await waiting).toBe(true)
    await second.shared.release()
    expect(await writer.exclusive.acquire()).toBe(true)
    await clock.time.advance(1_000)
    expect((await readLease(store, 'prices', { clock }))?.metadata).not.toHaveProperty('full')
  })
})

describe('a reader', () => {
  /** Somebody breaks the turnstile just before the claim of a reader on its slot reaches the store, and a writer gets it. */
  async function enterWhileBroken(wait: number) {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const options = { name: 'prices', readers: 2, clock }
    const writing = new ReadWriteLease(store, { ...options, owner: 'writer' })
    let isBroken = false
    const acquire: MemoryLeaseStore['acquire'] = async (request, call) => {
      if (request.name.startsWith('prices/') && !isBroken) {
        isBroken = true
        await breakLease(store, 'prices', { period: 0, reason: 'its holder is believed dead', clock })
        expect(await writing.exclusive.acquire()).toBe(true)
      }
      return await store.acquire(request, call)
    }
    const over = Object.assign(new FaultyStore(store, { clock }), { acquire })
    const reading = new ReadWriteLease(over, { ...options, owner: 'reader' })
    const entered = reading.shared.acquire({ wait })
    await clock.time.advance(1_000)
    return { clock, writing, reading, entered }
  }

  it('does not enter if the turnstile was broken while it claimed a slot', async () => {
    const { clock, writing, reading, entered } = await enterWhileBroken(0)
    expect(await entered).toBe(false)
    await clock.time.advance(60_000)
    expect([writing.exclusive.checkLease(), reading.shared.checkLease()]).toEqual([true, false])
  })

  it('waits for the writer that got the broken turnstile', async () => {
    const { clock, writing, reading, entered } = await enterWhileBroken(3_600_000)
    await clock.time.advance(60_000)
    expect([writing.exclusive.checkLease(), reading.shared.checkLease()]).toEqual([true, false])
    await writing.exclusive.release()
    await clock.time.advance(60_000)
    expect(await entered).toBe(true)
    expect(reading.shared.checkLease()).toBe(true)
  })
})
