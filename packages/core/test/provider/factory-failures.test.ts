import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Clock,
  Lease,
  LeaseConfigurationError,
  type LeaseFactory,
  LeaseHeldError,
  LeaseProvider,
  type LeaseSettings,
  LeaseTimeoutError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
  systemClock,
} from '@leasehold/core'
import { isLease } from '@leasehold/core/internal'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

/** A lease that extends no class of this copy of core. */
const foreign = { acquire: async () => true, release: async () => true, checkLease: () => true }

/** A value that `String()` cannot convert. */
const bare: unknown = Object.create(null)

const trap = {
  get acquire(): never {
    return raise(new Error('do not look'))
  },
}

function raise(error: unknown): never {
  throw error
}

/** A provider with an invalid block at `a` and a valid one at `b`. */
function providerOf(leaseClass: unknown, { clock = systemClock }: { clock?: Clock } = {}): LeaseProvider {
  const config = { a: { leaseClass }, b: { leaseClass: memoryLease } }
  return new LeaseProvider(config, {}, { clock, logger: silentLogger })
}

/** The error of `getLease` for the invalid block. The valid one works before and after it. */
async function failureOf(provider: LeaseProvider): Promise<unknown> {
  const good = await provider.getLease('job', 'b')
  expect(await good.acquire()).toBe(true)
  const error: unknown = await provider.getLease('job', 'a').then(
    () => expect.unreachable('a lease was given'),
    (reason: unknown) => reason,
  )
  expect(good.checkLease()).toBe(true)
  expect(await provider.getLease('job', 'b')).toBe(good)
  // An unhandled rejection would have failed the run by now.
  await nextTurn()
  return error
}

abstract class Unfinished extends Lease {
  constructor(settings: LeaseSettings) {
    super(settings)
  }
  override acquire(): Promise<boolean> {
    return Promise.resolve(true)
  }
  override release(): Promise<boolean> {
    return Promise.resolve(true)
  }
}

describe('a factory that returns no Lease', () => {
  it.each([
    ['nothing', () => undefined, 'made undefined, which is no Lease'],
    ['null', () => null, 'made null'],
    ['a text', () => 'lease', 'made lease'],
    ['a promise of nothing', async () => undefined, 'made undefined'],
    ['a store', () => new MemoryLeaseStore(), 'made an object without checkLease'],
    ['an object with a text for a method', () => ({ ...foreign, release: 'later' }), 'made an object without release'],
    ['an object whose methods cannot be read', () => trap, 'made an object'],
    ['a generator', function* lease() {}, 'made an object without acquire, release, checkLease'],
    ['a function', () => memoryLease, 'made a function'],
    ['an abstract class', Unfinished, 'made an object without checkLease'],
  ])('%s: rejects at once with a LeaseConfigurationError', async (_, leaseClass, message) => {
    await using provider = providerOf(leaseClass)
    const error = await failureOf(provider)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(error).toMatchObject({ message: expect.stringContaining(`the lease-class of 'a' ${message}`) })
    expect(error).toMatchObject({ leaseName: 'job', message: expect.stringContaining('it must return an object') })
  })

  it('is not cached: the next call asks the factory again', async () => {
    const make = vi.fn().mockReturnValueOnce(undefined).mockReturnValue(foreign)
    await using provider = providerOf(make)
    await failureOf(provider)
    expect(await provider.getLease('job', 'a')).toBe(foreign)
    expect(make).toHaveBeenCalledTimes(2)
  })
})

describe('a lease of another copy of core', () => {
  it('is recognised by its methods', async () => {
    expect(isLease(foreign)).toBe(true)
    for (const no of [undefined, null, 5, {}, { ...foreign, checkLease: true }, trap]) expect(isLease(no)).toBe(false)
    await using provider = providerOf(() => foreign)
    expect(await provider.getLease('job', 'a')).toBe(foreign)
  })

  it('is created by its class', async () => {
    class ForeignLease {
      readonly settings: LeaseSettings
      constructor(settings: LeaseSettings) {
        this.settings = settings
      }
      acquire(): Promise<boolean> {
        return Promise.resolve(true)
      }
      release(): Promise<boolean> {
        return Promise.resolve(true)
      }
      checkLease(): boolean {
        return true
      }
    }
    await using provider = providerOf(ForeignLease)
    expect((await provider.getLease('job', 'a')).settings.name).toBe('job')
  })
})

describe('a lease-class that is not a factory', () => {
  it.each([
    [Lease, 'is the abstract class Lease itself: expected a subclass'],
    [StoreLease, 'which needs a store: expected a function'],
    ['@leasehold/core#StoreLease', 'which needs a store: expected a function'],
    ['@leasehold/core#Lease', 'is the abstract class Lease itself'],
    ['@leasehold/core#memoryLease#more', "has more than one '#'"],
    [foreign, "the lease-class of 'a' is an object: set it to a text"],
  ])('%s: is rejected with an error that says what to do', async (leaseClass, message) => {
    await using provider = providerOf(leaseClass)
    const error = await failureOf(provider)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it.each([
    ['a value', 7 as unknown, 'is no function, and no factory'],
    ['a store class', MemoryLeaseStore, 'is a class that does not extend Lease'],
    ['StoreLease', StoreLease, 'which needs a store'],
  ])('among the given factories, %s: is rejected too', async (_, given, message) => {
    const factories = { mine: given } as unknown as Record<string, LeaseFactory>
    await using provider = new LeaseProvider({ a: { 'lease-class': 'mine' } }, factories, { logger: silentLogger })
    const got = provider.getLease('job', 'a')
    await expect(got).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(got).rejects.toThrow(message)
  })

  it('among the given factories, a subclass of Lease works as in a module', async () => {
    class Whole extends Unfinished {
      override checkLease(): boolean {
        return true
      }
    }
    const factories = { mine: Whole } as unknown as Record<string, LeaseFactory>
    await using provider = new LeaseProvider({ a: { 'lease-class': 'mine' } }, factories)
    expect(await provider.getLease('job', 'a')).toBeInstanceOf(Whole)
  })

  it('in a module: exports with the name of a lease that are not functions are ignored', async () => {
    const path = new URL('../modules/named-value.mjs', import.meta.url).pathname
    await using provider = providerOf(path)
    expect(await provider.getLease('job', 'a')).toBeInstanceOf(StoreLease)
  })
})

describe('a factory that fails', () => {
  it.each([
    ['an error', new TypeError('no table'), 'no table'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('away'), 'Symbol(away)'],
    ['a value without a text', bare, 'an object without a text was thrown'],
    [
      'an error whose message cannot be read',
      Object.assign(new Error(), { message: bare }),
      'an object without a text was thrown',
    ],
  ])('%s: rejects with a LeaseUnavailableError, thrown or rejected', async (_, thrown, text) => {
    for (const fail of [() => raise(thrown), () => Promise.reject(thrown)]) {
      await using provider = providerOf(fail)
      const error = await failureOf(provider)
      expect(error).toBeInstanceOf(LeaseUnavailableError)
      expect(error).toMatchObject({
        message: `the lease-class of 'a' failed: ${text} (block 'a', lease 'job')`,
        leaseName: 'job',
      })
      expect((error as LeaseUnavailableError).cause).toBe(thrown)
    }
  })

  it('a LeaseError is passed on unchanged', async () => {
    const held = new LeaseHeldError('not now')
    await using provider = providerOf(() => raise(held))
    expect(await failureOf(provider)).toBe(held)
  })

  it.each([
    ['a factory', () => new Promise<Lease>(() => {})],
    [
      'a store',
      (_: LeaseSettings, { share }: Parameters<LeaseFactory>[1]) =>
        share('s', () => new Promise<MemoryLeaseStore>(() => {})),
    ],
  ])('%s that never answers: rejects at the time limit, and the next call tries again', async (_, hang) => {
    const clock = new VirtualClock()
    let hangs = true
    const make: LeaseFactory = (settings, context) =>
      hangs ? (hang(settings, context) as Promise<Lease>) : memoryLease(settings, context)
    await using provider = providerOf(make, { clock })
    const got = provider.getLease('job', 'a')
    const outcome = expect(got).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(30_000)
    await outcome
    await expect(got).rejects.toThrow('was not made within 30 s')
    hangs = false
    expect(await provider.getLease('job', 'a')).toBeInstanceOf(StoreLease)
  })

  it('leaves no timer behind, also after a failure', async () => {
    const clock = new VirtualClock()
    await using provider = providerOf(() => raise(bare), { clock })
    await failureOf(provider)
    // The timer of the held lease of `b`.
    expect(clock.pending).toBe(1)
  })

  it('a store that is opened after the time limit is closed', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore()
    const close = vi.spyOn(store, 'close')
    let opened: (store: MemoryLeaseStore) => void = () => {}
    const opening = new Promise<MemoryLeaseStore>((resolve) => {
      opened = resolve
    })
    await using provider = providerOf(
      async (settings: LeaseSettings, { share }: Parameters<LeaseFactory>[1]) =>
        new StoreLease(settings, await share('s', () => opening)),
      { clock },
    )
    const outcome = expect(provider.getLease('job', 'a')).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(30_000)
    await outcome
    opened(store)
    await nextTurn()
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('optionKeys that are not a list are ignored', async () => {
    const make = Object.assign((...given: Parameters<LeaseFactory>) => memoryLease(...given), { optionKeys: 5 })
    await using provider = providerOf(make)
    expect(await provider.getLease('job', 'a')).toBeInstanceOf(StoreLease)
  })
})

describe('arguments of the wrong kind', () => {
  it.each([undefined, null, 'leasehold.conf'])('config %s: is rejected by the constructor', (config) => {
    expect(() => new LeaseProvider(config as unknown as object)).toThrow(LeaseConfigurationError)
  })

  it.each([undefined, 7, bare])('the config path %#: rejects with a LeaseConfigurationError', async (path) => {
    await using provider = providerOf(memoryLease)
    const got = provider.getLease('job', path as string)
    await expect(got).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(got).rejects.toThrow('the config path must be a text')
  })

  it.each([
    [{ heartbeatTimeout: bare }, 'heartbeat-timeout must be a duration such as 12s, 500ms or infinite, not an object'],
    [{ heartbeatTimeout: '1e400' }, 'heartbeat-timeout must be a duration'],
    [{ heartbeatTimeout: `${'9'.repeat(400)}s` }, 'heartbeat-timeout must be a duration'],
    [{ heartbeatTimeout: `${'9'.repeat(305)} days` }, 'heartbeat-timeout must be a duration'],
    [{ maxHold: Number.NaN }, 'max-hold must be a duration'],
    [{ strategy: {} }, 'or a RenewalStrategy, not an object without check() and plan()'],
    [{ strategy: ['eager'] }, 'strategy must be one of interval'],
  ])('the setting %#: rejects with a LeaseConfigurationError', async (settings, message) => {
    await using provider = new LeaseProvider({ a: { leaseClass: memoryLease, ...settings } })
    const got = provider.getLease('job', 'a')
    await expect(got).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(got).rejects.toThrow(message)
  })
})
