import {
  createLease,
  LeaseConfigurationError,
  LeaseNameError,
  type LeaseStore,
  LeaseTimeoutError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { createLockManager, type Lock, type LockManagerOptions, type LockOptions } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { type Fault, FaultyStore, type StoreOperation, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { leaseNameOf, recordOf } from '../../src/lock-manager/lock-name.js'

const unreachable = () => expect.unreachable('the callback was called')

/** Lock managers over one store in memory, in virtual time. The methods of the store may differ. */
function createPlace(methods: Partial<LeaseStore> = {}) {
  const clock = new VirtualClock()
  const calls: string[] = []
  const faults = new Map<StoreOperation, Fault>()
  const store: LeaseStore = Object.assign(
    new FaultyStore(new MemoryLeaseStore({ clock }), {
      clock,
      plan: ({ operation }) => {
        calls.push(operation)
        return faults.get(operation)
      },
    }),
    { kind: 'memory' },
    methods,
  )
  const options = { clock, logger: silentLogger, heartbeatTimeout: 10_000 }
  const open = (owner: string, more: LockManagerOptions = {}) =>
    createLockManager(store, { ...options, owner, ...more })
  return { clock, store, faults, calls, open, locks: open('anna') }
}

type Locks = ReturnType<typeof createPlace>['locks']

/** A request whose callback ends when it is told to. */
function hold(locks: Locks, name: string, options: LockOptions = {}) {
  let end = (_?: unknown): void => {}
  const ended = new Promise((resolve) => (end = resolve))
  const seen: { lock?: Lock | null } = {}
  const result = locks.request(name, options, async (lock) => {
    seen.lock = lock
    return await ended
  })
  const outcome = result.catch((error: unknown) => error)
  return Object.assign(seen, { end, outcome })
}

describe('createLockManager', () => {
  it('rejects a store without metadata, and wrong options', () => {
    const store = Object.assign(new FaultyStore(new MemoryLeaseStore()), { kind: 'memory', update: undefined })
    expect(() => createLockManager(store as never)).toThrow(LeaseConfigurationError)
    expect(() => createLockManager(store as never)).toThrow("'locks': the memory store has no room for metadata")
    expect(() => createPlace().open('anna', { readers: 0 })).toThrow('readers must be a whole number')
  })

  it('has its owner as the clientId', async () => {
    const { open, store } = createPlace()
    expect(open('berta').clientId).toBe('berta')
    expect(createLockManager(store).clientId).toMatch(/./)
  })
})

describe('names', () => {
  it.each([
    ['report', 'locks/report'],
    ['order/42', 'locks/order%2F42'],
    ['order/42/lines', 'locks/order/42/lines'],
    ['50%', 'locks/50%25'],
    ['a%2F0', 'locks/a%252F0'],
    ['/0', 'locks/%2F0'],
    ['0', 'locks/0'],
    ['', 'locks/'],
    ['a/0\n', 'locks/a/0\n'],
  ])('the lease of %j is %j, and the other way round', (lock, leaseName) => {
    expect(leaseNameOf('locks', lock)).toBe(leaseName)
    expect(recordOf('locks', leaseName)).toEqual({ lock, isSlot: false })
    expect(recordOf('locks', `${leaseName}/17`)).toEqual({ lock, isSlot: true })
  })

  it('another prefix is none of its records', () => {
    expect(recordOf('locks', 'lockstep/a')).toBeUndefined()
  })

  it('a name that is no lease name is a LeaseNameError, before any request', async () => {
    const { locks, calls } = createPlace()
    await expect(locks.request('x'.repeat(1_100), unreachable)).rejects.toThrow(LeaseNameError)
    await expect(locks.request('\ud800', unreachable)).rejects.toThrow(LeaseNameError)
    expect(calls).toEqual([])
  })

  it('managers with another name have other locks', async () => {
    const { clock, open, locks } = createPlace()
    const first = hold(locks, 'a')
    const second = hold(open('berta', { name: 'other' }), 'a')
    await clock.time.advance(1_000)
    expect([first.lock?.checkLease(), second.lock?.checkLease()]).toEqual([true, true])
  })
})

describe('a store that lacks an ability', () => {
  it.each([
    ['break', 'cannot break leases'],
    ['change', 'cannot hand leases over'],
  ])('%s: steal is a LeaseConfigurationError, and the holder keeps its lock', async (method, message) => {
    const { clock, locks } = createPlace({ [method]: undefined })
    const held = hold(locks, 'a')
    await clock.time.advance(1_000)
    const stealing = locks.request('a', { steal: true }, unreachable)
    await expect(stealing).rejects.toThrow(LeaseConfigurationError)
    await expect(stealing).rejects.toThrow(`the memory store ${message}`)
    expect(held.lock?.checkLease()).toBe(true)
  })

  it('list: query is a LeaseConfigurationError, and request works', async () => {
    const { clock, locks } = createPlace({ list: undefined } as never)
    await expect(locks.query()).rejects.toThrow(LeaseConfigurationError)
    const requested = locks.request('a', () => 1)
    await clock.time.advance(1_000)
    expect(await requested).toBe(1)
  })
})

describe('failures of the store', () => {
  it('a request waits for a store that does not answer; with ifAvailable, it rejects', async () => {
    const { clock, faults, locks } = createPlace()
    faults.set('acquire', { kind: 'fail-before' })
    const waiting = hold(locks, 'a')
    const refused = hold(locks, 'b', { ifAvailable: true })
    await clock.time.advance(60_000)
    expect(waiting.lock).toBeUndefined()
    expect(await refused.outcome).toBeInstanceOf(LeaseUnavailableError)
    expect(refused.lock).toBeUndefined()
    faults.clear()
    await clock.time.advance(60_000)
    expect(waiting.lock?.checkLease()).toBe(true)
  })

  it('a record of another recipe rejects the request, and the next one is served', async () => {
    const { clock, store, locks } = createPlace()
    const lease = createLease(store, 'locks/a', { clock })
    await lease.acquire({ metadata: { recipe: 'once', doneBy: 'berta' } })
    await lease.release()
    const rejected = [locks.request('a', unreachable), locks.request('a', { mode: 'shared' }, unreachable)]
    const settled = Promise.allSettled(rejected)
    await clock.time.advance(10_000)
    for (const outcome of await settled) expect(outcome).toMatchObject({ reason: { code: 'configuration' } })
  })

  it('a release that fails is reported, and does not change the outcome', async () => {
    const { clock, faults, locks } = createPlace()
    const errors: unknown[] = []
    locks.on('error', (error) => errors.push(error))
    const held = hold(locks, 'a')
    await clock.time.advance(1_000)
    faults.set('release', { kind: 'fail-before' })
    held.end('done')
    await clock.time.advance(60_000)
    expect(await held.outcome).toBe('done')
    expect(errors.length).toBeGreaterThan(0)
    faults.clear()
    const next = hold(locks, 'a')
    await clock.time.advance(60_000)
    expect(next.lock?.checkLease()).toBe(true)
  })
})

describe('stop', () => {
  it('rejects with a LeaseTimeoutError while a callback goes on, whose lock stays valid until it ends', async () => {
    const { clock, open, locks } = createPlace()
    const held = hold(locks, 'a')
    await clock.time.advance(1_000)
    const stopped = locks.stop({ timeout: 500 }).catch((error: unknown) => error)
    await clock.time.advance(30_000)
    expect(await stopped).toBeInstanceOf(LeaseTimeoutError)
    expect(await stopped).toMatchObject({
      message: expect.stringContaining('1 of 1 locks were not released within 500 ms'),
    })
    const next = hold(open('berta'), 'a')
    await clock.time.advance(30_000)
    expect(next.lock).toBeUndefined()
    held.end()
    await clock.time.advance(1_000)
    expect(next.lock?.checkLease()).toBe(true)
  })

  it('rejects the requests that wait, also in the middle of a theft', async () => {
    const { clock, faults, open, locks } = createPlace()
    const held = hold(locks, 'a')
    await clock.time.advance(1_000)
    faults.set('change', { kind: 'hang' })
    const thief = hold(locks, 'a', { steal: true })
    await clock.time.advance(100)
    const stopped = locks.stop()
    faults.clear()
    await clock.time.advance(30_000)
    await stopped
    expect(await thief.outcome).toBe(locks.closed.reason)
    expect(await held.outcome).toMatchObject({ name: 'AbortError' })
    const next = hold(open('berta'), 'a')
    await clock.time.advance(30_000)
    expect(next.lock?.checkLease()).toBe(true)
  })
})

describe('costs', () => {
  it('an exclusive lock costs three calls and one for each reader; a shared one that joins another costs a read', async () => {
    const { clock, open, calls } = createPlace()
    const locks = open('berta', { readers: 2 })
    const cost = async (act: () => unknown): Promise<readonly string[]> => {
      await clock.time.advance(0)
      calls.length = 0
      await act()
      await clock.time.advance(100)
      // A heartbeat may be due at any moment.
      return calls.filter((call) => !call.startsWith('renew'))
    }
    const first = locks.request('a', () => 1)
    await clock.time.advance(1_000)
    await first
    expect(await cost(() => void locks.request('a', () => 1))).toEqual(['acquire', 'update', 'read', 'read', 'release'])
    hold(locks, 'a', { mode: 'shared' })
    await clock.time.advance(1_000)
    expect(await cost(() => hold(locks, 'a', { mode: 'shared' }))).toEqual(['read'])
  })

  it('more processes than readers wait', async () => {
    const { clock, open } = createPlace()
    const [first, second] = ['berta', 'clara'].map((owner) =>
      hold(open(owner, { readers: 1 }), 'a', { mode: 'shared' }),
    )
    await clock.time.advance(20_000)
    expect([first?.lock?.checkLease(), second?.lock]).toEqual([true, undefined])
    first?.end()
    await clock.time.advance(20_000)
    expect(second?.lock?.checkLease()).toBe(true)
  })
})

it('a thief does not wait for a process that died while it entered', async () => {
  const { clock, store, open, locks } = createPlace()
  // The other process has the turnstile, and dies before it is in a slot.
  const dead = createLease(store, 'locks/a', { clock, heartbeatTimeout: 10_000, strategy: 'manual', owner: 'dead' })
  await dead.acquire()
  const thief = hold(locks, 'a', { steal: true })
  await clock.time.advance(1_000)
  expect(thief.lock?.checkLease()).toBe(true)
  expect((await readLease(store, 'locks/a', { clock }))?.owner).toBe('anna')
  await open('berta').stop()
})
