import { getEventListeners } from 'node:events'
import {
  breakLease,
  type Clock,
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseTimeoutError,
  LeaseUnavailableError,
  listLeases,
  MemoryLeaseStore,
  readLease,
  releaseLease,
} from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

function setUp() {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const store = new FaultyStore(memory, { clock })
  return { clock, memory, store, lease: createLease(memory, 'job', { owner: 'me', clock, logger: silentLogger }) }
}

describe('readLease', () => {
  it('resolves with the record, or undefined', async () => {
    const { clock, store, lease } = setUp()
    expect(await readLease(store, 'job', { clock })).toBeUndefined()
    await lease.acquire()
    expect(await readLease(store, 'job', { clock })).toMatchObject({ owner: 'me', state: 'leased' })
    await lease.release()
    expect(clock.pending).toBeLessThanOrEqual(1)
  })

  it.each([
    ['null', null],
    ['a text', 'yes'],
    ['a state that no record has', { state: 'vacant' }],
    ['a number as the token', { fencingToken: 1 }],
    ['no owner', { owner: undefined }],
    ['a list as the metadata', { metadata: [] }],
    ['metadata that are no texts', { metadata: { part: 5 } }],
  ])('rejects an answer that is no record: %s', async (_, changes) => {
    const { clock, memory, lease } = setUp()
    await lease.acquire()
    const store = viewOf(memory, {
      read: (read) => async (name, call) => {
        const record = await read(name, call)
        return (typeof changes === 'object' && changes !== null ? { ...record, ...changes } : changes) as typeof record
      },
    })
    const reading = readLease(store, 'job', { clock })
    await expect(reading).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(reading).rejects.toThrow("reading lease 'job': the memory store failed: its answer is not valid: ")
  })

  it('adds when the lock can end, by the wall clock of this machine, and whether it can', async () => {
    const { clock, memory, lease } = setUp()
    await lease.acquire()
    const { heartbeatTimeout: ttl } = lease.settings.timeouts
    const acquiredAt = clock.wall()
    await clock.advance(1_000)
    // Another machine's clock says something else: only the time left is taken from the store.
    clock.stepWall(3_600_000)
    const expected = { duration: 'fixed', remaining: ttl - 1_000, expiresAt: acquiredAt + ttl + 3_600_000 }
    expect(await readLease(memory, 'job', { clock })).toMatchObject(expected)
    expect(await lease.holder()).toMatchObject(expected)
    for await (const listed of listLeases(memory, '', { clock })) expect(listed).toMatchObject(expected)
    await breakLease(memory, 'job', { clock, period: 2_000 })
    const breaking = { state: 'breaking', duration: 'fixed', expiresAt: clock.wall() + 2_000 }
    expect(await readLease(memory, 'job', { clock })).toMatchObject(breaking)
    await clock.advance(2_000)
    const broken = await readLease(memory, 'job', { clock })
    expect(broken).toMatchObject({ state: 'broken' })
    expect(broken).not.toHaveProperty('expiresAt')
    expect(broken).not.toHaveProperty('duration')
  })

  it('counts the time left from when the read was sent, not from its answer', async () => {
    const { clock, store, lease } = setUp()
    await lease.acquire()
    const expiresAt = clock.wall() + lease.settings.timeouts.heartbeatTimeout
    store.inject({ kind: 'answer-late', duration: 700 })
    const read = readLease(store, 'job', { clock })
    await clock.advance(700)
    expect(await read).toMatchObject({ expiresAt })
  })

  it('says of a lease that does not expire that it is infinite', async () => {
    const { clock, memory } = setUp()
    const infinite = createLease(memory, 'endless', { heartbeatTimeout: Number.POSITIVE_INFINITY, clock })
    await infinite.acquire()
    const expected = { duration: 'infinite', expiresAt: Number.POSITIVE_INFINITY }
    expect(await readLease(memory, 'endless', { clock })).toMatchObject(expected)
  })

  it.each<[string, Partial<Clock>]>([
    ['has no wall clock', { wall: undefined as never }],
    [
      'has one that fails',
      {
        wall: () => {
          throw new Error('no battery')
        },
      },
    ],
    ['has one without a time', { wall: () => Number.NaN }],
  ])('leaves the time out where the clock %s', async (_, fault) => {
    const { clock, memory, lease } = setUp()
    await lease.acquire()
    const faulty: Clock = { now: () => clock.now(), schedule: (delay, task) => clock.schedule(delay, task), ...fault }
    const record = await readLease(memory, 'job', { clock: faulty })
    expect(record).toMatchObject({ duration: 'fixed', remaining: expect.any(Number) })
    expect(record).not.toHaveProperty('expiresAt')
  })

  it('rejects when the store does not answer in time, and ends the call', async () => {
    const { clock, store } = setUp()
    store.inject({ kind: 'hang' })
    const read = readLease(store, 'job', { clock, timeout: 300 })
    const rejected = expect(read).rejects.toThrow("reading lease 'job': the memory store did not answer within 300 ms")
    await clock.advance(300)
    await rejected
    await expect(read).rejects.toBeInstanceOf(LeaseTimeoutError)
  })

  it('rejects with a typed error if a store of the user fails with another one', async () => {
    const { clock, memory } = setUp()
    const cause = new Error('no route to host')
    memory.read = () => Promise.reject(cause)
    const reading = readLease(memory, 'job', { clock })
    await expect(reading).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(reading).rejects.toMatchObject({ leaseName: 'job', store: 'memory', cause })
    await expect(reading).rejects.toThrow("reading lease 'job': the memory store failed: no route to host")
  })

  it('rejects with the reason of its signal', async () => {
    const { clock, store } = setUp()
    const controller = new AbortController()
    store.inject({ kind: 'hang' })
    const read = expect(readLease(store, 'job', { clock, signal: controller.signal })).rejects.toBe('enough')
    controller.abort('enough')
    await read
    await expect(readLease(store, 'job', { signal: controller.signal })).rejects.toBe('enough')
    expect(clock.pending).toBe(0)
  })

  it('adds one listener to a signal that many operations share, and leaves none', async () => {
    const { clock, store } = setUp()
    const { signal } = new AbortController()
    const reading = Array.from({ length: 20 }, () => readLease(store, 'job', { clock, signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Promise.all(reading)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('breakLease', () => {
  it('ends a lease after the period', async () => {
    const { clock, store, lease } = setUp()
    await lease.acquire()
    expect(await breakLease(store, 'job', { clock, period: 2_000, reason: 'stuck' })).toEqual({ remaining: 2_000 })
    expect(await readLease(store, 'job', { clock })).toMatchObject({
      state: 'breaking',
      metadata: { breakReason: 'stuck' },
    })
  })

  it('rejects when there is nothing to break, or the store cannot break', async () => {
    const { clock, memory, store } = setUp()
    await expect(breakLease(store, 'job', { clock })).rejects.toBeInstanceOf(LeaseConflictError)
    const plain = { limits: memory.limits, acquire: memory.acquire, renew: memory.renew, release: memory.release }
    const bare = { ...plain, read: memory.read, close: memory.close, kind: 'bare' }
    await expect(breakLease(bare, 'job', { clock })).rejects.toThrow('the bare store cannot break leases')
    await expect(listLeases(bare).next()).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})

describe('releaseLease', () => {
  it('frees the name of a grant', async () => {
    const { clock, store, lease } = setUp()
    await lease.acquire()
    const { grantId = '' } = (await readLease(store, 'job', { clock })) ?? {}
    expect(await releaseLease(store, 'job', { grantId, clock })).toBe(true)
    expect(await readLease(store, 'job', { clock })).toMatchObject({ state: 'available' })
    expect(await releaseLease(store, 'job', { grantId, clock })).toBe(false)
  })

  it('changes nothing where another grant is in force, or the name has no record', async () => {
    const { clock, store, lease } = setUp()
    expect(await releaseLease(store, 'job', { grantId: 'earlier', clock })).toBe(false)
    await lease.acquire()
    expect(await releaseLease(store, 'job', { grantId: 'earlier', clock })).toBe(false)
    expect(await readLease(store, 'job', { clock })).toMatchObject({ state: 'leased' })
  })

  it('rejects when the store does not answer in time', async () => {
    const { clock, store, lease } = setUp()
    await lease.acquire()
    const { grantId = '' } = (await readLease(store, 'job', { clock })) ?? {}
    store.inject({ kind: 'hang' }, 'release')
    const released = releaseLease(store, 'job', { grantId, clock, timeout: 300 })
    const rejected = expect(released).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(300)
    await rejected
  })
})

describe('listLeases', () => {
  it('yields the records with a prefix, or all records without one', async () => {
    const { clock, store, memory } = setUp()
    for (const name of ['jobs/1', 'jobs/2', 'other']) {
      await createLease(memory, name, { clock, logger: silentLogger }).acquire()
    }
    const names: string[] = []
    for await (const { name } of listLeases(store, 'jobs/', { clock })) names.push(name)
    expect(names).toEqual(['jobs/1', 'jobs/2'])
    const all: string[] = []
    for await (const { name } of listLeases(store, undefined, { clock })) all.push(name)
    expect(all).toEqual(['jobs/1', 'jobs/2', 'other'])
  })

  it('lists 100,000 names without blocking the event loop', { timeout: 60_000 }, async () => {
    const { memory } = setUp()
    for (let place = 0; place < 100_000; place += 1) {
      await memory.acquire({ name: `name ${place}`, owner: 'me', ttl: 60_000 })
    }
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    let count = 0
    for await (const _ of listLeases(memory)) count += 1
    isOver = true
    expect(count).toBe(100_000)
    expect(turns).toBeGreaterThan(50)
  })

  it('throws when a record is late, and ends the listing', async () => {
    const { clock, memory } = setUp()
    let aborted = false
    const hanging = Object.assign(memory, {
      list: (_: string, call: { onAbort(listener: () => void): () => void }) => ({
        [Symbol.asyncIterator]: () => {
          call.onAbort(() => {
            aborted = true
          })
          return { next: () => new Promise<never>(() => {}) }
        },
      }),
    })
    const next = listLeases(hanging, 'a', { clock, timeout: 400 }).next()
    const rejected = expect(next).rejects.toThrow("listing leases 'a…': the memory store did not answer within 400 ms")
    await clock.advance(400)
    await rejected
    expect(aborted).toBe(true)
  })
})
