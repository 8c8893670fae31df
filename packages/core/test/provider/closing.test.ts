import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Clock,
  type Lease,
  type LeaseFactory,
  LeaseProvider,
  LeaseUnavailableError,
  type Logger,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
} from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

function raise(error: unknown): never {
  throw error
}

function thenable(then: () => unknown): unknown {
  return Object.defineProperty({}, 'then', { value: then })
}

/** A promise and the functions that settle it. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const releases: [string, () => unknown][] = [
  ['hangs', () => new Promise(() => {})],
  ['rejects', () => Promise.reject(new Error('the store is away'))],
  ['rejects with a value without a text', () => Promise.reject(Object.create(null))],
  ['throws', () => raise(new Error('not a promise'))],
  ['returns nothing', () => undefined],
  ['returns a promise that fails when it is awaited', () => thenable(() => raise(Symbol('no')))],
]

/** A provider with a lease that ends as given, a held lease of the engine, and a store. */
async function setUp(release: () => unknown, logger: Logger = silentLogger, clock: Clock = new VirtualClock()) {
  const store = new MemoryLeaseStore()
  const close = vi.spyOn(store, 'close')
  const odd: LeaseFactory = () => ({ acquire: async () => true, release, checkLease: () => true }) as unknown as Lease
  const held: LeaseFactory = async (settings, { share }) =>
    new StoreLease(settings, await share('s', () => store), { logger: silentLogger })
  const config = { odd: { leaseClass: odd }, held: { leaseClass: held } }
  const provider = new LeaseProvider(config, {}, { clock, logger })
  await provider.getLease('odd', 'odd')
  const lease = await provider.getLease('job', 'held')
  const onLost = vi.fn()
  await lease.acquire({ onLost })
  return { provider, store, close, onLost, held }
}

describe('LeaseProvider.close with a lease whose release', () => {
  it.each(releases)('%s: resolves and closes the other leases and the store', async (_, release) => {
    const clock = new VirtualClock()
    const { provider, close, onLost } = await setUp(release, silentLogger, clock)
    const closed = provider.close()
    await nextTurn()
    expect(onLost.mock.calls).toEqual([[{ reason: 'closed' }]])
    await clock.advance(10_000)
    await closed
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('hangs: ends within ten seconds, although the store hangs as well', async () => {
    const clock = new VirtualClock()
    const { provider, close } = await setUp(() => new Promise(() => {}), silentLogger, clock)
    close.mockReturnValue(new Promise(() => {}))
    const ended = vi.fn()
    const closed = provider.close().then(ended)
    await clock.advance(9_999)
    expect(ended).not.toHaveBeenCalled()
    await clock.advance(1)
    await closed
  })

  it('rejects: logs the error', async () => {
    const warn = vi.fn()
    const error = new Error('the store is away')
    const { provider } = await setUp(() => Promise.reject(error), { ...silentLogger, warn })
    await provider.close()
    expect(warn.mock.calls).toEqual([['a lease or a store could not be closed in order', error]])
  })
})

describe('LeaseProvider.close with', () => {
  it.each([
    ['throws', () => raise(new Error('disk full'))],
    ['rejects', () => Promise.reject(Object.create(null))],
  ])('a logger that %s: resolves, and the report becomes a process warning', async (_, warn) => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const logger = { ...silentLogger, warn } as Logger
    const { provider, close } = await setUp(() => raise(Object.create(null)), logger)
    await provider.close()
    await nextTurn()
    expect(close).toHaveBeenCalledTimes(1)
    expect(emitted).toHaveBeenCalledWith(expect.stringContaining('a lease or a store could not be closed in order'), {
      type: 'LeaseholdWarning',
      detail: 'an object without a text was thrown',
    })
    emitted.mockRestore()
  })

  it.each<[string, Clock['schedule']]>([
    ['throws', () => raise(new Error('no timers left'))],
    ['returns nothing', () => undefined as unknown as () => void],
    ['returns what throws', () => () => raise(new Error('no such timer'))],
  ])('a clock whose schedule %s: resolves', async (_, schedule) => {
    const { provider, close } = await setUp(async () => true, silentLogger, { now: () => 0, schedule })
    await provider.close()
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('a lease under construction: closes it, and its getLease rejects', async () => {
    const { promise: made, resolve } = deferred<Lease>()
    const release = vi.fn(async () => true)
    const provider = new LeaseProvider({ a: { leaseClass: () => made } }, {}, { logger: silentLogger })
    const got = expect(provider.getLease('job', 'a')).rejects.toBeInstanceOf(LeaseUnavailableError)
    await nextTurn()
    const closed = provider.close()
    resolve({ acquire: async () => true, release, checkLease: () => true } as unknown as Lease)
    await closed
    await got
    expect(release).toHaveBeenCalledTimes(1)
  })

  it('a factory that opens its store later: opens nothing', async () => {
    const { promise: go, resolve } = deferred<void>()
    const open = vi.fn(() => new MemoryLeaseStore())
    const slow: LeaseFactory = async (settings, context) => {
      await go
      return new StoreLease(settings, await context.share('s', open))
    }
    const clock = new VirtualClock()
    const provider = new LeaseProvider({ a: { leaseClass: slow } }, {}, { clock, logger: silentLogger })
    const got = expect(provider.getLease('job', 'a')).rejects.toBeInstanceOf(LeaseUnavailableError)
    await nextTurn()
    const closed = provider.close()
    resolve()
    await closed
    await got
    expect(open).not.toHaveBeenCalled()
  })
})

describe('a logger that throws', () => {
  it('affects no lease: the warning of an unknown key becomes a process warning', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const logger = { ...silentLogger, warn: () => raise(new Error('disk full')) }
    await using provider = new LeaseProvider({ a: { leaseClass: memoryLease, maxHodl: '1h' } }, {}, { logger })
    expect(await provider.getLease('job', 'a')).toBeInstanceOf(StoreLease)
    expect(emitted).toHaveBeenCalledWith(expect.stringContaining("did you mean 'max-hold'?"), expect.anything())
    emitted.mockRestore()
  })
})
