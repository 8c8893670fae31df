import {
  type AcquireOptions,
  type Lease,
  LeaseConfigurationError,
  LeaseLostError,
  LeaseUnavailableError,
  MemoryLeaseStore,
} from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { createActor, SimulatedClock } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { type RecorderOptions, setUp, setUpActive } from './support/guarded-recorder.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** A value that `String()` cannot convert. */
const bare: unknown = Object.create(null)

function raise(error: unknown): never {
  throw error
}

function thenable(then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): Promise<never> {
  return Object.defineProperty({}, 'then', { value: then }) as Promise<never>
}

/** Starts an actor with the given lease or lease factory. */
function start(lease: unknown, options: RecorderOptions = {}) {
  const recorder = new Recorder()
  const clock = new SimulatedClock()
  const [logger, onDropped, onError] = [vi.fn(), vi.fn(), vi.fn()]
  const logic = leaseGuarded(recorder.worker, { lease: lease as Lease, onDropped, ...options })
  const actor = createActor(logic, { clock, logger })
  actor.subscribe({ error: onError })
  actor.send(message(1))
  actor.start()
  return { recorder, clock, logger, onDropped, onError, actor }
}

/** A lease with only the three methods. */
function bareLease(
  methods: Partial<Record<'acquire' | 'release' | 'checkLease', (...given: never[]) => unknown>> = {},
) {
  return { acquire: async () => true, release: vi.fn(async () => true), checkLease: () => true, ...methods }
}

const no = Symbol('no')

describe('a lease factory that returns no Lease', () => {
  it.each([
    ['nothing', () => undefined, 'gave undefined: give, return or resolve with an object with the methods acquire'],
    ['a store', () => new MemoryLeaseStore(), 'gave an object'],
    ['methods that are none', () => ({ acquire: 1, release: 2, checkLease: 3 }), 'gave an object'],
    ['a function', () => raise, 'gave a function'],
    ['a promise of nothing', () => Promise.resolve(), 'gave undefined'],
    ['a promise of a store', () => Promise.resolve(new MemoryLeaseStore()), 'gave an object'],
  ])('%s: the actor ends with a LeaseConfigurationError', async (_, make, text) => {
    const { actor, onError, onDropped } = start(make)
    await settle()
    expect(onError.mock.calls).toEqual([[expect.any(LeaseConfigurationError)]])
    expect(actor.getSnapshot()).toMatchObject({ status: 'error', error: { message: expect.stringContaining(text) } })
    expect(onDropped.mock.calls).toEqual([[message(1), 'stopped']])
    expect(actor.getSnapshot().matches('active')).toBe(false)
    expect(actor.getPersistedSnapshot()).toMatchObject({ status: 'error' })
  })

  it.each([
    ['a promise that rejects', () => Promise.reject(bare), bare] as const,
    ['a thenable that fails', () => thenable(() => raise(no)), no] as const,
  ])('%s: the actor ends with that value', async (_, make, thrown) => {
    const { onError, onDropped } = start(make)
    await settle()
    expect(onError.mock.calls[0]?.[0]).toBe(thrown)
    expect(onDropped.mock.calls).toEqual([[message(1), 'stopped']])
  })

  it.each([
    ['nothing', undefined] as const,
    ['a symbol', Symbol('no')] as const,
    ['a value without a text', bare] as const,
  ])('throws %s: the actor ends with that value', async (_, thrown) => {
    const { onError, onDropped } = start(() => raise(thrown))
    expect(onError.mock.calls).toEqual([[thrown]])
    expect(onDropped.mock.calls).toEqual([[message(1), 'stopped']])
    await settle()
  })
})

describe('acquire', () => {
  const outcomes: [string, () => unknown, unknown][] = [
    ['returns nothing', () => undefined, 'acquire resolved with undefined, expected true or false'],
    ['resolves with nothing', async () => undefined, 'acquire resolved with undefined'],
    ['resolves with a text', async () => 'yes', 'acquire resolved with yes'],
    ['resolves with a value without a text', async () => bare, 'acquire resolved with an object'],
    ['rejects with nothing', () => Promise.reject(undefined), 'acquire failed with undefined'],
    ['throws nothing', () => raise(null), 'acquire failed with null'],
  ]
  it.each(outcomes)('%s: counts as a failed attempt with a typed error, and is repeated', async (_, acquire, text) => {
    const lease = new ScriptedLease()
    lease.onAcquire = acquire as () => Promise<boolean>
    const { actor, clock, recorder } = start(lease, { retryInterval: 1_000 })
    await settle()
    const { attempts, lastError } = actor.getSnapshot().context
    expect(attempts).toBe(1)
    expect(lastError).toBeInstanceOf(LeaseUnavailableError)
    expect(lastError).toMatchObject({ message: expect.stringContaining(`lease 'orders': ${text}`), owner: 'me' })
    lease.onAcquire = undefined
    clock.increment(1_000)
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
    actor.stop()
  })

  it('resolves with neither true nor false: the lease is released, because it may be held', async () => {
    const lease = new ScriptedLease()
    lease.onAcquire = (async () => 'yes') as unknown as () => Promise<boolean>
    const { actor } = start(lease)
    await settle()
    expect(lease.releases).toBe(1)
    actor.stop()
    expect(lease.releases).toBe(1)
  })

  it.each([
    ['a symbol', Symbol('no')],
    ['a value without a text', bare],
  ])('rejects or throws %s: the context contains it, and the attempt is repeated', async (_, reason) => {
    for (const fail of [() => raise(reason), () => Promise.reject(reason)]) {
      const lease = new ScriptedLease()
      lease.onAcquire = fail
      const { actor, clock } = start(lease, { retryInterval: 1_000 })
      await settle()
      expect(actor.getSnapshot().context).toMatchObject({ attempts: 1 })
      expect(actor.getSnapshot().context.lastError).toBe(reason)
      clock.increment(1_000)
      expect(lease.acquires).toBe(2)
      actor.stop()
      await settle()
    }
  })

  it('returns a thenable that settles twice: the first outcome counts, and nothing is released', async () => {
    const twice = thenable((resolve) => {
      resolve(true)
      resolve(true)
      resolve(false)
    })
    const lease = bareLease({ acquire: () => twice })
    const { actor, recorder } = start(lease)
    await settle()
    expect(recorder.handled).toEqual([1])
    expect(lease.release).not.toHaveBeenCalled()
    actor.stop()
    expect(lease.release).toHaveBeenCalledTimes(1)
  })

  it('returns a thenable that throws: counts as a failed attempt', async () => {
    const { actor } = start(bareLease({ acquire: () => thenable(() => raise(bare)) }))
    await settle()
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 1, lastError: bare })
    actor.stop()
  })
})

describe('onLost', () => {
  const unreadable = {
    get reason(): never {
      return raise(new Error('do not look'))
    },
  }
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'gone'],
    ['an object without a reason', {}],
    ['an object that cannot be read', unreadable],
  ])('called with %s: the worker is stopped at once, and the loss counts as expired', async (_, lost) => {
    const { lease, recorder, actor } = await setUpActive()
    lease.lose(lost as never)
    expect(recorder.alive).toBe(0)
    expect(actor.getSnapshot().error).toBeInstanceOf(LeaseLostError)
    expect(actor.getSnapshot().error).toMatchObject({ reason: 'expired', leaseName: 'orders' })
  })

  it('called with undefined before acquire resolves: no worker is started', async () => {
    const lease = bareLease({
      acquire: async ({ onLost }: AcquireOptions) => {
        ;(onLost as () => void)()
        return true
      },
    })
    const { actor, recorder } = start(lease)
    await settle()
    expect(recorder.started).toBe(0)
    expect(actor.getSnapshot().error).toBeInstanceOf(LeaseLostError)
  })

  it('called before acquire resolves and once more during the next attempt: counts once', async () => {
    const { lease, actor, clock, recorder } = setUp({ onLeaseLost: 'reacquire' })
    const { onLost } = lease.asked
    onLost?.({ reason: 'taken' })
    lease.grant()
    await settle()
    clock.increment(1_000)
    onLost?.({ reason: 'expired' })
    lease.grant()
    await settle()
    expect(lease.acquires).toBe(2)
    expect(recorder.alive).toBe(1)
    actor.stop()
    expect(lease.releases).toBe(1)
  })

  it('called twice: counts once', async () => {
    const { lease, actor, recorder } = setUp({ onLeaseLost: 'reacquire' })
    const { onLost } = lease.asked
    lease.grant()
    await settle()
    onLost?.({ reason: 'expired' })
    onLost?.({ reason: 'taken' })
    lease.grant()
    await settle()
    onLost?.({ reason: 'expired' })
    expect(actor.getSnapshot().value).toBe('active')
    expect(recorder.alive).toBe(1)
    actor.stop()
  })
})

describe('checkLease', () => {
  it('throws when a message arrives: the actor ends with the error, drops the message and releases the lease', async () => {
    const error = new Error('no clock')
    let broken = false
    const lease = bareLease({ checkLease: () => (broken ? raise(error) : true) })
    const { actor, recorder, onDropped } = start(lease)
    await settle()
    broken = true
    actor.send(message(2))
    expect(actor.getSnapshot()).toMatchObject({ status: 'error', error })
    expect(onDropped.mock.calls).toEqual([[message(2), 'stopped']])
    expect(recorder.alive).toBe(0)
    expect(lease.release).toHaveBeenCalledTimes(1)
    await settle()
  })

  it('throws after the grant: the actor ends with the error, drops its stash and releases the lease', async () => {
    const lease = bareLease({ checkLease: () => raise(bare) })
    const { actor, recorder, onDropped } = start(lease)
    await settle()
    expect(actor.getSnapshot().error).toBe(bare)
    expect(onDropped.mock.calls).toEqual([[message(1), 'stopped']])
    expect(recorder.started).toBe(0)
    expect(lease.release).toHaveBeenCalledTimes(1)
  })

  it.each([['a text', 'yes'] as const, ['a promise', Promise.resolve(true)] as const, ['nothing', undefined] as const])(
    'returns %s: no message is forwarded',
    async (_, answer) => {
      const { actor, recorder } = start(bareLease({ checkLease: () => answer }))
      await settle()
      actor.send(message(2))
      expect(recorder.started).toBe(0)
      expect(actor.getSnapshot().context.stashed).toBe(2)
      actor.stop()
    },
  )
})

describe('release', () => {
  it.each<[string, () => unknown, unknown]>([
    ['throws a value without a text', () => raise(bare), bare],
    ['rejects with a symbol', () => Promise.reject(Symbol.iterator), Symbol.iterator],
    ['returns nothing', () => undefined, expect.any(LeaseUnavailableError)],
    ['resolves with a text', async () => 'done', expect.any(LeaseUnavailableError)],
    ['returns a thenable that fails', () => thenable(() => raise(bare)), bare],
  ])('%s: is logged, and has no other effect', async (_, release, error) => {
    const { actor, logger } = start(bareLease({ release }))
    await settle()
    actor.stop()
    await settle()
    expect(logger.mock.calls).toEqual([["the release of lease '' failed", error]])
    expect(actor.getSnapshot().status).toBe('stopped')
  })

  it('never settles: the actor ends', async () => {
    const { actor, logger } = start(bareLease({ release: () => new Promise(() => {}) }))
    await settle()
    actor.stop()
    await settle()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(logger).not.toHaveBeenCalled()
  })
})

describe('the settings of a lease', () => {
  it.each<[string, object]>([
    ['are missing', {}],
    ['are null', { settings: null }],
    ['have an interval that is none', { settings: { name: Symbol('no'), retryInterval: Number.NaN } }],
    ['cannot be read', Object.defineProperty({}, 'settings', { get: () => raise(bare) })],
  ])('%s: the actor uses a default interval, and its errors have no lease name', async (_, settings) => {
    const acquire = vi.fn(async () => false)
    const lease = Object.defineProperties(bareLease({ acquire }), Object.getOwnPropertyDescriptors(settings))
    const { actor, clock } = start(lease)
    await settle()
    clock.increment(3_999)
    expect(acquire).toHaveBeenCalledTimes(1)
    acquire.mockImplementation(async ({ onLost }: AcquireOptions = {}) => {
      onLost?.({ reason: 'taken' })
      return true
    })
    clock.increment(1_001)
    await settle()
    expect(acquire).toHaveBeenCalledTimes(2)
    expect(actor.getSnapshot().error).toMatchObject({ message: "lease '' was lost: taken", reason: 'taken' })
  })
})
