import {
  type Clock,
  createLease,
  defaultLogger,
  type LeaseStore,
  MemoryLeaseStore,
  type RenewalStrategy,
  type StoreLease,
  systemClock,
  TimeoutSettings,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }

function errorsOf(lease: StoreLease): unknown[] {
  const errors: unknown[] = []
  lease.on('error', (error) => errors.push(error))
  return errors
}

/** A lease with misbehaving supplied code, and a correct lease with the same store and clock. */
async function setUpPair(options: Parameters<typeof createLease>[2]) {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const environment = { ...times, clock, logger: silentLogger }
  const faulty = createLease(store, 'faulty', { ...environment, ...options })
  const sound = createLease(store, 'sound', environment)
  const errors = errorsOf(faulty)
  await Promise.all([faulty.acquire(), sound.acquire()])
  return { clock, store, faulty, sound, errors }
}

const thrown = new Error('thrown by user code')
function fails(): never {
  throw thrown
}

function strategyThat(misbehaves: Partial<Record<keyof RenewalStrategy, unknown>>): RenewalStrategy {
  const plan = () => ({ after: 1_000, attemptTimeout: 1_000 })
  return { name: 'custom', check: () => undefined, plan, ...misbehaves } as RenewalStrategy
}

describe('a renewal strategy', () => {
  it.each([
    ['throws', fails],
    ['returns nothing', () => undefined],
    ['returns a promise', () => Promise.reject(thrown)],
    ['returns no duration', () => ({ after: Number.NaN, attemptTimeout: 1_000 })],
    ['returns no time for an attempt', () => ({ after: 1_000, attemptTimeout: Number.NaN })],
    ['returns no pause', () => ({ after: 0, attemptTimeout: 1_000 })],
    ['returns an attempt without time', () => ({ after: 1_000, attemptTimeout: 0 })],
    ['returns a negative duration', () => ({ after: -1, attemptTimeout: 1_000 })],
    ['returns texts', () => ({ after: '1s', attemptTimeout: '1s' })],
    ['returns null', () => null],
  ])('that %s in plan is reported, and both leases keep their heartbeats', async (_, plan) => {
    const { clock, faulty, sound, errors } = await setUpPair({ strategy: strategyThat({ plan }) })
    await clock.advance(5 * TTL)
    expect([faulty.checkLease(), sound.checkLease()]).toEqual([true, true])
    expect(errors.length).toBeGreaterThan(0)
  })

  it('that throws in observe is reported', async () => {
    const { clock, faulty, sound, errors } = await setUpPair({ strategy: strategyThat({ observe: fails }) })
    await clock.advance(5 * TTL)
    expect([faulty.checkLease(), sound.checkLease()]).toEqual([true, true])
    expect(errors).toContain(thrown)
  })

  it.each([
    ['throws in check', strategyThat({ check: fails })],
    ['returns no sentence from check', strategyThat({ check: () => 7 })],
    ['has no plan', strategyThat({ plan: undefined })],
    ['is a number', 7],
    ['returns a promise from check', strategyThat({ check: async () => fails() })],
  ])('that %s: the settings throw a LeaseConfigurationError', (_, strategy) => {
    expect(() => new TimeoutSettings({ strategy: strategy as RenewalStrategy })).toThrow(
      expect.objectContaining({ name: 'LeaseConfigurationError' }),
    )
  })
})

describe('a random source', () => {
  it.each([
    ['throws', fails],
    ['returns NaN', () => Number.NaN],
    ['returns a large number', () => 1e9],
    ['returns nothing', () => undefined as unknown as number],
    ['returns a promise', () => Promise.reject(thrown) as never],
  ])('that %s is reported, and both leases keep their heartbeats', async (_, random) => {
    const { clock, faulty, sound, errors } = await setUpPair({ random })
    await clock.advance(5 * TTL)
    expect([faulty.checkLease(), sound.checkLease()]).toEqual([true, true])
    expect(errors.length).toBeGreaterThan(0)
  })
})

describe('a clock', () => {
  it.each([
    ['throws', fails],
    ['returns NaN', () => Number.NaN],
    ['returns nothing', () => undefined as unknown as number],
  ])('that %s ends the validity of its own lease at once', async (_, now) => {
    let isBroken = false
    const virtual = new VirtualClock()
    const clock: Clock = {
      now: () => (isBroken ? now() : virtual.now()),
      schedule: (delay, task) => virtual.schedule(delay, task),
    }
    const store = new MemoryLeaseStore({ clock: virtual })
    const faulty = createLease(store, 'faulty', { ...times, clock, logger: silentLogger })
    const sound = createLease(store, 'sound', { ...times, clock: virtual, logger: silentLogger })
    const errors = errorsOf(faulty)
    const losses: string[] = []
    await faulty.acquire({ onLost: ({ reason }) => losses.push(reason) })
    await sound.acquire()
    isBroken = true
    expect(faulty.checkLease()).toBe(false)
    expect(faulty.remaining).toBe(0)
    await virtual.advance(5 * TTL)
    expect(sound.checkLease()).toBe(true)
    expect(losses).toEqual(['expired'])
    expect(errors.length).toBeGreaterThan(0)
    await expect(faulty.acquire()).rejects.toMatchObject({ name: 'LeaseConfigurationError' })
  })

  it('that cannot schedule is reported, and heartbeats continue by the system clock', async () => {
    const clock: Clock = { now: () => systemClock.now(), schedule: fails }
    const lease = createLease(new MemoryLeaseStore(), 'faulty', {
      ...times,
      heartbeatInterval: 50,
      clock,
      logger: silentLogger,
    })
    const errors = errorsOf(lease)
    const renewed = new Promise((resolve) => lease.once('renewed', resolve))
    await lease.acquire()
    await renewed
    expect(lease.checkLease()).toBe(true)
    expect(errors).toContain(thrown)
    await lease.release()
  })

  it('with timers that cannot be cancelled is reported', async () => {
    const virtual = new VirtualClock()
    const schedule = (delay: number, task: () => void) => virtual.schedule(delay, task) && undefined
    const clock = { now: () => virtual.now(), schedule } as unknown as Clock
    const lease = createLease(new MemoryLeaseStore({ clock: virtual }), 'faulty', {
      ...times,
      clock,
      logger: silentLogger,
    })
    const errors = errorsOf(lease)
    await lease.acquire()
    await virtual.advance(2 * TTL)
    expect(lease.checkLease()).toBe(true)
    expect(errors.length).toBeGreaterThan(0)
  })
})

describe('a logger', () => {
  it.each([
    ['throws', fails],
    ['rejects', () => Promise.reject(thrown)],
    ['is not there', undefined],
  ])('that %s affects no lease: the message becomes a process warning', async (_, log) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const logger = { debug: log, info: log, warn: log, error: log } as never
      const { clock, faulty, sound } = await setUpPair({ logger, strategy: strategyThat({ observe: fails }) })
      faulty.off('error', fails)
      const silent = createLease(new MemoryLeaseStore({ clock }), 'alone', { ...times, clock, logger })
      await silent.acquire({ onLost: fails })
      await silent.close()
      await clock.advance(2 * TTL)
      expect([faulty.checkLease(), sound.checkLease()]).toEqual([true, true])
      expect(warned.mock.calls.some(([message]) => String(message).includes("lease 'alone'"))).toBe(true)
    } finally {
      warned.mockRestore()
    }
  })
})

const noText: unknown = Object.create(null)

/** Settles twice with different results, as promises of some libraries do. */
function settlesTwice(first: unknown): unknown {
  const then = (resolve: (value: unknown) => void, reject: (reason: unknown) => void): void => {
    resolve(first)
    reject(thrown)
    resolve(undefined)
  }
  return Object.fromEntries([['then', then]])
}

/** A store in memory with one method replaced. */
function storeThat(
  clock: Clock,
  method: 'acquire' | 'renew' | 'release' | 'read',
  answers: (right: () => unknown) => unknown,
) {
  const store = new MemoryLeaseStore({ clock })
  const facade: LeaseStore = {
    limits: { ...store.limits, ordered: false },
    acquire: (request, signal) => store.acquire(request, signal),
    renew: (grant, signal) => store.renew(grant, signal),
    release: (grant, signal) => store.release(grant, signal),
    read: (name, signal) => store.read(name, signal),
    close: () => store.close(),
  }
  const right = facade[method] as (...args: unknown[]) => unknown
  return Object.assign(facade, { [method]: (...args: unknown[]) => answers(() => right(...args)) })
}

const nonsense: [string, (right: () => unknown) => unknown][] = [
  ['resolves with undefined', async () => undefined],
  ['resolves with null', async () => null],
  ['resolves with a text', async () => 'yes'],
  ['resolves with an empty object', async () => ({})],
  ['returns no promise', () => undefined],
  ['throws', fails],
  [
    'resolves with an object that throws when it is read',
    async () => ({
      get granted() {
        return fails()
      },
      get renewed() {
        return fails()
      },
      get released() {
        return fails()
      },
      get state() {
        return fails()
      },
    }),
  ],
  ['rejects with a value that has no text', () => Promise.reject(noText)],
  ['rejects with a symbol', () => Promise.reject(Symbol('no'))],
]

describe('a store', () => {
  it.each(nonsense)('that %s from acquire grants nothing: acquire rejects with a typed error', async (_, answers) => {
    const clock = new VirtualClock()
    const lease = createLease(storeThat(clock, 'acquire', answers), 'job', { ...times, clock, logger: silentLogger })
    const rejected = expect(lease.acquire()).rejects.toMatchObject({ name: 'LeaseUnavailableError' })
    await clock.advance(TTL)
    await rejected
    expect(lease.checkLease()).toBe(false)
  })

  it.each([
    ['no token', { name: 'job', owner: 'me', grantId: 'g', ttl: TTL }],
    ['a token that is a number', { name: 'job', owner: 'me', grantId: 'g', ttl: TTL, fencingToken: 7 }],
    ['a ttl that is NaN', { name: 'job', owner: 'me', grantId: 'g', ttl: Number.NaN, fencingToken: 7n }],
    ['no grant id', { name: 'job', owner: 'me', ttl: TTL, fencingToken: 7n }],
    ['nothing', undefined],
  ])('that grants %s counts as a failure', async (_, grant) => {
    const clock = new VirtualClock()
    const store = storeThat(clock, 'acquire', async () => ({ granted: true, grant }))
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const rejected = expect(lease.acquire()).rejects.toMatchObject({ name: 'LeaseUnavailableError' })
    await clock.advance(TTL)
    await rejected
  })

  it.each(nonsense)('that %s from renew ends the lease at the end of its validity, not earlier', async (_, answers) => {
    const clock = new VirtualClock()
    const store = storeThat(clock, 'renew', answers)
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const losses: unknown[] = []
    await lease.acquire({ onLost: (lost) => losses.push(lost) })
    await clock.advance(TTL / 2)
    expect(lease.checkLease()).toBe(true)
    await clock.advance(TTL / 2)
    expect(losses).toMatchObject([{ reason: 'expired', cause: { code: 'unavailable' } }])
  })

  it.each(nonsense)('that %s from renewMany ends no lease before its validity', async (_, answers) => {
    const clock = new VirtualClock()
    const store = Object.assign(
      storeThat(clock, 'read', (right) => right()),
      { renewMany: () => answers(fails) as never },
    )
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const losses: string[] = []
    await lease.acquire({ onLost: ({ reason }) => losses.push(reason) })
    await clock.advance(TTL / 2)
    expect(lease.checkLease()).toBe(true)
    await clock.advance(TTL / 2)
    expect(losses).toEqual(['expired'])
  })

  it('with an invalid renewMany outcome for one lease does not affect the others', async () => {
    const clock = new VirtualClock()
    const store = storeThat(clock, 'read', (right) => right())
    Object.assign(store, {
      renewMany: async (grants: { name: string }[]) =>
        await Promise.all(
          grants.map((grant) =>
            grant.name === 'faulty' ? { renewed: 'perhaps' } : store.renew(grant as never, new AbortableCall()),
          ),
        ),
    })
    const open = (name: string) => createLease(store, name, { ...times, clock, logger: silentLogger })
    const [faulty, sound] = [open('faulty'), open('sound')]
    await Promise.all([faulty.acquire(), sound.acquire()])
    await clock.advance(3 * TTL)
    expect([faulty.checkLease(), sound.checkLease()]).toEqual([false, true])
  })

  it.each(nonsense)('that %s from release makes release reject with a typed error', async (_, answers) => {
    const clock = new VirtualClock()
    const lease = createLease(storeThat(clock, 'release', answers), 'job', { ...times, clock, logger: silentLogger })
    await lease.acquire()
    const rejected = expect(lease.release()).rejects.toMatchObject({ code: 'unavailable' })
    await clock.advance(2 * TTL)
    await rejected
    expect(lease.checkLease()).toBe(false)
  })

  it.each(nonsense)('that %s from read does not settle a lost answer of acquire', async (title, answers) => {
    const clock = new VirtualClock()
    const store = storeThat(clock, 'read', answers)
    const acquire = store.acquire.bind(store)
    let asked = 0
    store.acquire = async (request, signal) => {
      asked += 1
      await acquire(request, signal)
      throw new Error('the answer was lost')
    }
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const rejected = expect(lease.acquire()).rejects.toMatchObject({ code: 'unavailable' })
    await clock.advance(2 * TTL)
    await rejected
    expect([lease.checkLease(), asked, title.length > 0]).toEqual([false, 1, true])
  })

  it('with a promise that settles twice counts once', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const facade = storeThat(clock, 'acquire', () => settlesTwice({ granted: false, holder: recordOf() }))
    const lease = createLease(facade, 'job', { ...times, clock, logger: silentLogger })
    const other = createLease(store, 'other', { ...times, clock, logger: silentLogger })
    expect(await Promise.all([lease.acquire(), other.acquire()])).toEqual([false, true])
    await clock.advance(TTL)
    expect(await lease.acquire()).toBe(false)
  })

  it('with an invalid remaining time of the holder is asked again as without one', async () => {
    const clock = new VirtualClock()
    let asked = 0
    const holder = { ...recordOf(), remaining: Number.NaN }
    const store = storeThat(clock, 'acquire', async () => {
      asked += 1
      return { granted: false, holder }
    })
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(TTL)
    expect(await acquired).toBe(false)
    expect(asked).toBeGreaterThan(2)
    expect(asked).toBeLessThan(100)
  })

  it.each([
    ['undefined', undefined],
    ['a promise', Promise.resolve(new MemoryLeaseStore())],
    ['a class', MemoryLeaseStore],
    ['a store without limits', Object.assign(storeThat(systemClock, 'read', fails), { limits: undefined })],
  ])('that is %s: createLease throws a LeaseConfigurationError', (_, store) => {
    expect(() => createLease(store as never, 'job')).toThrow(
      expect.objectContaining({ name: 'LeaseConfigurationError' }),
    )
  })
})

describe('an error that cannot be read', () => {
  it('is logged as a process warning without its text', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const error = Object.defineProperty(new Error(), 'stack', { get: fails })
    defaultLogger.error('a failure', Object.defineProperty(error, 'message', { get: fails }))
    expect(warned).toHaveBeenCalledWith('a failure', {
      type: 'LeaseholdWarning',
      detail: 'an object without a text was thrown',
    })
    warned.mockRestore()
  })
})

describe('a callback', () => {
  it('that returns an object whose `then` throws is reported, and the loss is complete', async () => {
    const { clock, store, faulty, errors } = await setUpPair({})
    await faulty.release()
    const hostile = Object.defineProperty({}, 'then', { get: fails })
    await faulty.acquire({ onLost: () => hostile })
    await store.delete('faulty')
    await clock.advance(TTL)
    expect(faulty.checkLease()).toBe(false)
    expect(errors).toEqual([thrown])
    expect(await faulty.acquire()).toBe(true)
  })
})
