import { createLease, LeaseUnavailableError, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { groupOf } from '../src/engine/lease-group.js'
import { guidOf } from './support/guid-of.js'
import { ARMED, INTERVAL, LIMIT, setUp, silentLogger, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

interface InMemory {
  readonly clock: VirtualClock
  readonly store: MemoryLeaseStore
  readonly create: (owner: string) => StoreLease
}

function setUpInMemory(): InMemory {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, clock }
  return { clock, store, create: (owner) => createLease(store, 'job', { ...times, owner, logger: silentLogger }) }
}

const refusal = { granted: false, holder: recordOf() }

describe('acquire with wait, over a store that does not wake its waiters', () => {
  it('repeats the request at growing intervals until it is granted', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: Number.POSITIVE_INFINITY })
    const instants: number[] = []
    for (let polls = 0; polls < 20; polls += 1) {
      instants.push(clock.now())
      store.last('acquire').answer(refusal)
      const before = store.count('acquire')
      while (store.count('acquire') === before) await clock.advance(5)
    }
    const pauses = instants.slice(1).map((instant, place) => instant - (instants[place] ?? 0))
    expect(pauses[0]).toBeLessThanOrEqual(INTERVAL / 20 + 5)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(INTERVAL + 5)
    expect(Math.min(...pauses.slice(12))).toBeGreaterThanOrEqual(INTERVAL / 2)
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
  })

  it('repeats the request at the expiry if the store reports it', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: Number.POSITIVE_INFINITY })
    store.last('acquire').answer({ granted: false, holder: recordOf({ remaining: 8 }) })
    await clock.advance(8)
    expect(store.count('acquire')).toBe(1)
    await clock.advance(10)
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
  })

  it('resolves false at the end of the wait and leaves nothing behind', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: 500 })
    store.last('acquire').answer(refusal)
    while (clock.now() < 500) {
      await clock.advance(5)
      if (store.calls.at(-1)?.method === 'acquire') store.last('acquire').answer(refusal)
    }
    expect(await acquired).toBe(false)
    await clock.advance(ARMED)
    expect(lease.state).toBe('idle')
    expect(clock.pending).toBe(0)
  })

  it('continues after failures of the store with the same grant id', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    store.last('read').fail(new Error('reset'))
    while (store.count('acquire') === 1) await clock.advance(5)
    expect(new Set(store.calls.filter(({ method }) => method === 'acquire').map(({ grantId }) => grantId)).size).toBe(1)
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
  })

  it('rejects with the last failure at the end of the wait if the outcome is unknown', async () => {
    const { clock, store, lease } = setUp()
    const rejected = expect(lease.acquire({ wait: 200 })).rejects.toBeInstanceOf(LeaseUnavailableError)
    while (lease.state === 'acquiring') {
      store.calls.at(-1)?.fail(new Error('reset'))
      await clock.advance(5)
    }
    await rejected
  })

  it('settles each caller at its own time; a caller without wait at the first answer', async () => {
    const { store, lease } = setUp()
    const patient = lease.acquire({ wait: TTL })
    const hasty = lease.acquire()
    store.last('acquire').answer(refusal)
    expect(await hasty).toBe(false)
    expect(lease.state).toBe('acquiring')
    void lease.acquire()
    store.last('acquire').answer('yes')
    expect(await patient).toBe(true)
  })

  it('leaves the queue of an ordered store at the end of the wait', async () => {
    const { clock, store, lease } = setUp({ ordered: true })
    const controller = new AbortController()
    const rejected = expect(lease.acquire({ wait: TTL, signal: controller.signal })).rejects.toBe('enough')
    const { grantId, queue } = store.last('acquire')
    expect(queue).toBe(true)
    store.last('acquire').answer(refusal)
    await clock.settle()
    controller.abort('enough')
    await rejected
    expect(store.last('withdraw').grantId).toBe(grantId)
  })

  it('abandons a withdrawal without an answer within its time limit', async () => {
    const { clock, store, lease } = setUp({ ordered: true })
    const controller = new AbortController()
    const rejected = expect(lease.acquire({ wait: TTL, signal: controller.signal })).rejects.toBe('enough')
    store.last('acquire').answer(refusal)
    await clock.settle()
    controller.abort('enough')
    await rejected
    const { call } = store.last('withdraw')
    await clock.advance(LIMIT - 1)
    expect(call.aborted).toBe(false)
    await clock.advance(1)
    expect(call.aborted).toBe(true)
    expect(String(call.signal.reason)).toContain("withdraw of lease 'job' did not answer")
    expect(clock.pending).toBe(0)
  })
})

describe('acquire with wait, over a store that wakes its waiters', () => {
  it('is granted as soon as the holder releases, at the same virtual time', async () => {
    const { clock, create } = setUpInMemory()
    const [holder, waiter] = [create('holder'), create('waiter')]
    await holder.acquire()
    const acquired = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    const before = clock.now()
    await holder.release()
    expect(await acquired).toBe(true)
    expect(clock.now()).toBe(before)
  })

  it('is granted at the end of the ttl when the holder stops renewing', async () => {
    const { clock, store, create } = setUpInMemory()
    const silent = { name: 'job', owner: 'dead', grantId: guidOf('dead'), ttl: TTL }
    await store.acquire(silent, new AbortableCall())
    const waiter = create('waiter')
    const acquired = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.advance(TTL - 1)
    expect(waiter.checkLease()).toBe(false)
    await clock.advance(INTERVAL)
    expect(waiter.checkLease()).toBe(true)
    await acquired
  })

  it('serves waiters first come, first served, also when one of them gives up', async () => {
    const { clock, create } = setUpInMemory()
    const holder = create('holder')
    await holder.acquire()
    const served: number[] = []
    const controller = new AbortController()
    const waits = Array.from({ length: 20 }, async (_, place) => {
      const waiter = create(`waiter-${place}`)
      const signal = place === 7 ? controller.signal : undefined
      const wait = place === 11 ? 100 : Number.POSITIVE_INFINITY
      const granted = await waiter.acquire({ wait, ...(signal === undefined ? {} : { signal }) }).catch(() => false)
      if (!granted) return
      served.push(place)
      await waiter.release()
    })
    await clock.advance(50)
    controller.abort()
    await clock.advance(100)
    await holder.release()
    await Promise.all(waits)
    expect(served).toEqual([...Array(20).keys()].filter((place) => place !== 7 && place !== 11))
    await clock.advance(50)
    expect(clock.pending).toBe(0)
  })

  it('skips a dead waiter that has not repeated its request for a ttl', async () => {
    const { clock, store, create } = setUpInMemory()
    const holder = create('holder')
    await holder.acquire()
    const dead = { name: 'job', owner: 'dead', grantId: guidOf('dead'), ttl: TTL, queue: true }
    await store.acquire(dead, new AbortableCall())
    const acquired = create('waiter').acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    await holder.release()
    await clock.advance(TTL + INTERVAL)
    expect(await acquired).toBe(true)
  })

  it('keeps its place over many ttls', async () => {
    const { clock, create } = setUpInMemory()
    const holder = create('holder')
    await holder.acquire()
    const order: string[] = []
    const first = create('first')
      .acquire({ wait: Number.POSITIVE_INFINITY })
      .then(() => order.push('first'))
    await clock.advance(3 * TTL)
    void create('second')
      .acquire({ wait: Number.POSITIVE_INFINITY })
      .then(() => order.push('second'))
    await clock.advance(3 * TTL)
    await holder.release()
    await first
    expect(order).toEqual(['first'])
  })

  it('is not overtaken by a challenger without wait', async () => {
    const { clock, create } = setUpInMemory()
    const holder = create('holder')
    await holder.acquire()
    const acquired = create('waiter').acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    const released = holder.release()
    expect(await create('hasty').acquire()).toBe(false)
    await released
    expect(await acquired).toBe(true)
  })

  it('10,000 waiters on one signal print no warning and leak no listener', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const { clock, store, create } = setUpInMemory()
    const holder = create('holder')
    await holder.acquire()
    const controller = new AbortController()
    const waits = Array.from({ length: 10_000 }, (_, place) =>
      create(`waiter-${place}`).acquire({ wait: Number.POSITIVE_INFINITY, signal: controller.signal }),
    )
    await clock.settle()
    controller.abort('closing')
    const outcomes = await Promise.allSettled(waits)
    expect(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason === 'closing')).toBe(true)
    await clock.settle()
    expect(groupOf(store, clock, Math.random).aborts.size).toBe(0)
    await holder.release()
    // The timers of leases are disarmed a little later.
    await clock.advance(50)
    expect(clock.pending).toBe(0)
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })
})
