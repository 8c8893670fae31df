import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { breakLease, createLease, MemoryLeaseStore } from '@leasehold/core'
import type { LeaseChannels } from '@leasehold/core/channels'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

type Acquired = LeaseChannels['leasehold:acquired']

const told: Acquired[] = []
const note = (message: unknown): void => void told.push(message as Acquired)

beforeEach(() => {
  told.length = 0
  subscribe('leasehold:acquired', note)
})

afterEach(() => void unsubscribe('leasehold:acquired', note))

function createPlace() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const lease = (owner: string) =>
    createLease(store, 'report', { clock, owner, random: () => 0, heartbeatTimeout: 10_000, operationTimeout: 1_000 })
  return { clock, store, anna: lease('anna'), berta: lease('berta') }
}

/** The last grant. */
function origin(): Pick<Acquired, 'owner' | 'from' | 'vacancy'> {
  const { owner, from, vacancy } = told.at(-1) as Acquired
  return { owner, from, vacancy }
}

describe('the message of a grant says how the name became free', () => {
  it('free: nobody held it', async () => {
    const { anna, berta } = createPlace()
    await anna.acquire()
    expect(origin()).toEqual({ owner: 'anna', from: 'free', vacancy: undefined })
    await anna.release()
    await berta.acquire()
    expect(origin()).toEqual({ owner: 'berta', from: 'free', vacancy: undefined })
  })

  it('release: the waiter was woken', async () => {
    const { clock, anna, berta } = createPlace()
    await anna.acquire()
    const waiting = berta.acquire({ wait: 60_000 })
    await clock.time.advance(3_000)
    await anna.release()
    await clock.time.advance(100)
    expect(await waiting).toBe(true)
    expect(origin()).toMatchObject({ owner: 'berta', from: 'release' })
    expect(origin().vacancy).toBeLessThan(100)
  })

  it('expiry: the holder was not heard of again', async () => {
    const { clock, store, berta } = createPlace()
    // A process that has crashed.
    await store.acquire({ name: 'report', owner: 'gone', grantId: 'gone', ttl: 10_000 }, new AbortableCall(1_000))
    const waiting = berta.acquire({ wait: 60_000 })
    await clock.time.advance(20_000)
    expect(await waiting).toBe(true)
    expect(origin()).toMatchObject({ owner: 'berta', from: 'expiry' })
    expect(origin().vacancy).toBeGreaterThanOrEqual(0)
    expect(origin().vacancy).toBeLessThan(5_000)
  })

  it('hand-off: it was adopted, and was free at no time', async () => {
    const { clock, store, anna } = createPlace()
    await anna.acquire()
    const handOff = await anna.handOff()
    const next = createLease(store, 'report', { clock, owner: 'anna', heartbeatTimeout: 10_000 })
    expect(await next.adopt(handOff)).toBe(true)
    expect(origin()).toEqual({ owner: 'anna', from: 'hand-off', vacancy: 0 })
  })

  it('break: an operator or a waiter has broken it', async () => {
    const { clock, store, anna, berta } = createPlace()
    await anna.acquire()
    await breakLease(store, 'report', { period: 4_000 })
    const waiting = berta.acquire({ wait: 60_000 })
    await clock.time.advance(10_000)
    expect(await waiting).toBe(true)
    expect(origin()).toMatchObject({ owner: 'berta', from: 'break' })
    const preempting = anna.acquire({ wait: 60_000, preempt: { period: 1_000, when: () => true } })
    await clock.time.advance(30_000)
    expect(await preempting).toBe(true)
    expect(origin()).toMatchObject({ owner: 'anna', from: 'break' })
  })

  it('forgets the holder of the claim before', async () => {
    const { anna, berta } = createPlace()
    await anna.acquire()
    expect(await berta.acquire()).toBe(false)
    await anna.release()
    expect(await berta.acquire()).toBe(true)
    expect(origin()).toEqual({ owner: 'berta', from: 'free', vacancy: undefined })
  })

  it('unknown: nobody listened while the claim was refused', async () => {
    const { clock, anna, berta } = createPlace()
    await anna.acquire()
    unsubscribe('leasehold:acquired', note)
    const waiting = berta.acquire({ wait: 60_000 })
    await clock.time.advance(100)
    subscribe('leasehold:acquired', note)
    await anna.release()
    await clock.time.advance(100)
    expect(await waiting).toBe(true)
    expect(origin()).toEqual({ owner: 'berta', from: 'unknown', vacancy: undefined })
  })
})
