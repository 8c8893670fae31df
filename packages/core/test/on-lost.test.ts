import { createLease, type LeaseLost, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { ARMED, INTERVAL, setUp, setUpHeld, silentLogger, TTL, VALIDITY } from './support/held-lease.js'

describe('onLost', () => {
  it('fires exactly once for a grant, and again for the next one', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(3 * TTL)
    expect(losses.length).toBe(1)
    for (const call of store.calls) if (call.method === 'release') call.answer('yes')
    const acquired = lease.acquire({ onLost: (lost) => losses.push(lost) })
    await clock.settle()
    for (const call of store.calls) if (call.method === 'release') call.answer('yes')
    await clock.settle()
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    await clock.advance(3 * TTL)
    expect(losses.length).toBe(2)
  })

  it('fires when the signal is aborted and checkLease is false', async () => {
    const { clock, store, lease } = setUp()
    const seen: unknown[] = []
    const acquired = lease.acquire({
      onLost: () => seen.push(signal.aborted, lease.checkLease(), lease.state),
    })
    store.last('acquire').answer('yes')
    await acquired
    const { signal } = lease
    await clock.advance(TTL)
    expect(seen).toEqual([true, false, 'idle'])
  })

  it('fires before the name is freed, so that the worker stops first', async () => {
    const { clock, store, lease } = setUp()
    let releases = -1
    const acquired = lease.acquire({
      onLost: () => {
        releases = store.count('release')
      },
    })
    store.last('acquire').answer('yes')
    await acquired
    await clock.advance(TTL)
    expect(releases).toBe(0)
    expect(store.count('release')).toBe(1)
  })

  it('never fires before acquire has resolved, although the validity ends in the same turn', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', { heartbeatTimeout: 120_000, clock, logger: silentLogger })
    const order: string[] = []
    const first = lease.acquire({ onLost: () => order.push('lost') }).then(() => order.push('acquired'))
    // Another part of the program checks as soon as the lease is granted, after a jump of the clock.
    while (!lease.checkLease()) await Promise.resolve()
    clock.block(120_000)
    const second = lease.acquire()
    await Promise.all([first, second])
    expect(order).toEqual(['acquired', 'lost'])
  })

  it('that throws or rejects is reported, and the other callbacks still run', async () => {
    const { clock, store, lease } = setUp()
    const told: LeaseLost[] = []
    const errors: unknown[] = []
    lease.on('error', (error) => errors.push(error))
    lease.on('lost', () => {
      throw new Error('listener')
    })
    lease.on('lost', (lost) => told.push(lost))
    const acquired = lease.acquire({
      onLost: () => {
        throw new Error('callback')
      },
    })
    void lease.acquire({ onLost: (async () => await Promise.reject(new Error('promise'))) as () => void })
    void lease.acquire({ onLost: (lost) => told.push(lost) })
    store.last('acquire').answer('yes')
    await acquired
    await clock.advance(TTL)
    expect(told.length).toBe(2)
    expect(errors.map(String).sort()).toEqual(['Error: callback', 'Error: listener', 'Error: promise'])
  })

  it('that throws is logged if there is no listener for errors', async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (_: string, details?: unknown) => logged.push(details) }
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', { clock, logger })
    await lease.acquire({
      onLost: () => {
        throw new Error('callback')
      },
    })
    clock.block(120_000)
    await clock.advance(120_000)
    expect(logged.map(String)).toEqual(['Error: callback'])
  })

  it('may acquire again in the callback', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', { clock, logger: silentLogger })
    let again: Promise<boolean> | undefined
    await lease.acquire({
      onLost: () => {
        again = lease.acquire()
      },
    })
    const first = lease.fencingToken ?? 0n
    clock.block(120_000)
    await clock.advance(1)
    expect(await again).toBe(true)
    expect(lease.fencingToken).toBeGreaterThan(first)
  })
})

describe('jeopardy', () => {
  it('begins with a failed heartbeat and ends with recovered', async () => {
    const { clock, store, lease, events } = await setUpHeld()
    await clock.advance(INTERVAL)
    store.last('renew').fail(new Error('reset'))
    await clock.advance(INTERVAL / 2)
    expect(lease.state).toBe('jeopardy')
    store.last('renew').answer('yes')
    await clock.settle()
    expect(lease.state).toBe('held')
    expect(events).toEqual(['acquired', 'jeopardy', 'renewed', 'recovered'])
  })

  it('notifies once for any number of failed heartbeats, and again after recovery', async () => {
    const { clock, store, lease, events } = await setUpHeld()
    for (let outage = 0; outage < 2; outage += 1) {
      await clock.advance(INTERVAL)
      for (let failures = 0; failures < 5; failures += 1) {
        store.last('renew').fail(new Error('refused'))
        await clock.advance(INTERVAL / 2)
      }
      expect(lease.state).toBe('jeopardy')
      store.last('renew').answer('yes')
      await clock.settle()
    }
    const outage = ['jeopardy', 'renewed', 'recovered']
    expect(events).toEqual(['acquired', ...outage, ...outage])
  })

  it('begins with a late heartbeat, although none has failed', async () => {
    const { clock, lease, events } = await setUpHeld()
    clock.block(VALIDITY - INTERVAL)
    await clock.settle()
    expect(lease.state).toBe('jeopardy')
    expect(events).toEqual(['acquired', 'jeopardy'])
  })
})

describe('maxHold', () => {
  it('ends a lease with confirmed heartbeats', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', {
      heartbeatTimeout: TTL,
      heartbeatInterval: INTERVAL,
      operationTimeout: INTERVAL,
      maxHold: 5 * TTL,
      clock,
      logger: silentLogger,
    })
    const losses: LeaseLost[] = []
    await lease.acquire({ onLost: (lost) => losses.push(lost) })
    await clock.advance(5 * TTL - 1)
    expect(lease.checkLease()).toBe(true)
    clock.block(1)
    expect(lease.checkLease()).toBe(false)
    await clock.settle()
    expect(losses).toEqual([{ reason: 'max-hold' }])
    await clock.settle()
    expect(await store.read('job', new AbortableCall())).toMatchObject({ state: 'available' })
  })

  it('of an adopted lease counts from the send time of the adoption, not from its answer', async () => {
    const clock = new VirtualClock()
    const memory = new MemoryLeaseStore({ clock })
    const environment = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: INTERVAL, clock }
    const from = createLease(memory, 'job', { ...environment, owner: 'from', logger: silentLogger })
    await from.acquire()
    const handOff = await from.handOff({ owner: 'to' })
    const slow = new FaultyStore(memory, { clock })
    slow.inject({ kind: 'answer-late', duration: INTERVAL / 2 }, 'change')
    const to = createLease(slow, 'job', { ...environment, owner: 'to', maxHold: 3 * TTL, logger: silentLogger })
    const sentAt = clock.now()
    const adopted = to.adopt(handOff)
    await clock.advance(INTERVAL / 2)
    expect(await adopted).toBe(true)
    expect(clock.now()).toBeGreaterThan(sentAt)
    await clock.advance(3 * TTL - (clock.now() - sentAt) - 1)
    expect(to.checkLease()).toBe(true)
    clock.block(1)
    expect(to.checkLease()).toBe(false)
  })
})

describe('close', () => {
  it('notifies the holder and releases its lease', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    const closed = lease.close()
    expect(losses).toEqual([{ reason: 'closed' }])
    await clock.settle()
    store.last('release').answer('yes')
    await closed
    expect(lease.state).toBe('idle')
    await clock.advance(ARMED)
    expect(clock.pending).toBe(0)
  })
})

describe('a lease that does not expire', () => {
  it('is held until a heartbeat reports that it was broken', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', { heartbeatTimeout: Number.POSITIVE_INFINITY, clock, logger: silentLogger })
    const losses: LeaseLost[] = []
    await lease.acquire({ onLost: (lost) => losses.push(lost) })
    expect(lease.remaining).toBe(Number.POSITIVE_INFINITY)
    await clock.advance(1_000_000)
    expect(lease.checkLease()).toBe(true)
    await store.break('job', {}, new AbortableCall())
    await clock.advance(12_000)
    expect(losses).toMatchObject([{ reason: 'broken' }])
  })
})
