import { fileURLToPath } from 'node:url'
import {
  createLease,
  Lease,
  LeaseConfigurationError,
  type LeaseFactory,
  LeaseNameError,
  LeaseProvider,
  LeaseUnavailableError,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

const config = {
  leasehold: {
    lease: { 'lease-class': 'memory', 'heartbeat-timeout': '60s', 'heartbeat-interval': '' },
    jobs: { 'heartbeat-interval': '10 s', 'lease-operation-timeout': 2_000, 'max-hold': '1h' },
    endless: { heartbeatTimeout: 'infinite', leaseClass: memoryLease },
  },
}
const factories = { memory: memoryLease }

describe('LeaseProvider.getLease', () => {
  it('reads the block at the path, with fallback to leasehold.lease', async () => {
    await using provider = new LeaseProvider(config, factories)
    const lease = await provider.getLease('nightly', 'leasehold.jobs', 'me')
    expect(lease.settings).toMatchObject({
      name: 'nightly',
      owner: 'me',
      maxHold: 3_600_000,
      timeouts: { heartbeatTimeout: 60_000, heartbeatInterval: 10_000, operationTimeout: 2_000 },
    })
    expect(await lease.acquire()).toBe(true)
  })

  it('accepts the same settings as a plain object in camel case, with a factory as a value', async () => {
    await using provider = new LeaseProvider(config)
    const lease = await provider.getLease('nightly', 'leasehold.endless')
    expect(lease.settings.timeouts.heartbeatTimeout).toBe(Number.POSITIVE_INFINITY)
  })

  it('accepts any object with toObject', async () => {
    await using provider = new LeaseProvider({ toObject: () => config }, factories)
    expect(await provider.getLease('nightly', 'leasehold.jobs')).toBeInstanceOf(StoreLease)
  })

  it('returns one instance for each name, path and owner', async () => {
    await using provider = new LeaseProvider(config, factories)
    const [one, same] = await Promise.all([
      provider.getLease('nightly', 'leasehold.jobs'),
      provider.getLease('nightly', 'leasehold.jobs'),
    ])
    expect(same).toBe(one)
    expect(await provider.getLease('nightly', 'leasehold.jobs', 'other')).not.toBe(one)
    expect(await provider.getLease('hourly', 'leasehold.jobs')).not.toBe(one)
  })

  it('returns leases of one store for one path', async () => {
    await using provider = new LeaseProvider(config, factories)
    const [a, b] = await Promise.all(['a', 'b'].map((owner) => provider.getLease('nightly', 'leasehold.jobs', owner)))
    expect(await a?.acquire()).toBe(true)
    expect(await b?.acquire()).toBe(false)
  })

  it.each([
    ['leasehold.nowhere', "has no block 'leasehold.nowhere'"],
    ['__proto__', 'has no block'],
    ['leasehold.jobs.constructor', 'has no block'],
  ])('of the path %s fails: %s', async (path, message) => {
    await using provider = new LeaseProvider(config, factories)
    const got = provider.getLease('nightly', path)
    await expect(got).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(got).rejects.toThrow(message)
  })

  it.each([
    [
      { 'lease-class': 'zookeeper' },
      'is not installed: npm install zookeeper; or name one of the factories given (memory)',
    ],
    [{ 'lease-class': '@nobody/leases/redis' }, 'is not installed: npm install @nobody/leases;'],
    [{ 'lease-class': '#factory' }, "has no module before the '#'"],
    [{ 'lease-class': './modules/throwing.mjs' }, 'throwing.mjs, cannot be loaded'],
    [{ 'lease-class': 'toString' }, 'is not installed'],
    [{}, "'a' names no lease-class: set it to a provider's package such as"],
    [{ 'lease-class': 7 }, 'names no lease-class'],
    [{ 'lease-class': '@leasehold/core#nothing' }, "does not export 'nothing'; it exports"],
    [{ 'lease-class': '@leasehold/core#MemoryLeaseStore' }, 'is a class that does not extend Lease, and no factory'],
    [{ 'lease-class': '@leasehold/core#systemClock' }, 'is no function, and no factory'],
    [{ 'lease-class': './nowhere.mjs' }, 'nowhere.mjs, cannot be loaded'],
    [{ leaseClass: class Other {} }, 'is a class that does not extend Lease'],
    [{ 'lease-class': 'memory', 'lease-retry-interval': 0 }, 'retryInterval must be a positive, finite number'],
    [{ 'lease-class': 'memory', 'heartbeat-timeout': '5000 us' }, 'heartbeatTimeout must be'],
    [{ 'lease-class': 'memory', 'heartbeat-timeout': '5 parsecs' }, 'heartbeat-timeout must be a duration'],
    [{ 'lease-class': 'memory', 'heartbeat-timeout': '10s', 'heartbeat-interval': '4s' }, 'raise heartbeatTimeout'],
  ])('of the block %j fails: %s', async (block, message) => {
    await using provider = new LeaseProvider({ a: block }, factories)
    await expect(provider.getLease('nightly', 'a')).rejects.toThrow(message)
    await expect(provider.getLease('nightly', 'a')).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it.each([
    ['a package with its export', '@leasehold/core#memoryLease'],
    ['a file, its one factory', './modules/factory.mjs'],
    ['a file that is one function', './modules/default-export.cjs'],
    ['a subclass of Lease', './modules/subclass.mjs'],
    ['one of several exports', './modules/several.mjs#secondLease'],
  ])('loads the factory named by lease-class: %s', async (_, leaseClass) => {
    const block = { 'lease-class': leaseClass, 'lease-retry-interval': '3s' }
    const originOf = () => ({ source: fileURLToPath(new URL('./application.conf', import.meta.url)), line: 1 })
    await using provider = new LeaseProvider({ toObject: () => ({ a: block }), originOf })
    const lease = await provider.getLease('nightly', 'a')
    expect(lease).toBeInstanceOf(Lease)
    expect(lease.settings.retryInterval).toBe(3_000)
    expect(await lease.acquire()).toBe(true)
  })

  it('rejects a module with several factories, and lists them', async () => {
    const path = fileURLToPath(new URL('./modules/several.mjs', import.meta.url))
    await using provider = new LeaseProvider({ a: { leaseClass: path } })
    await expect(provider.getLease('nightly', 'a')).rejects.toThrow(/exports firstLease, secondLease: say which one/)
  })

  it.each([
    [{ 'heartbeat-timout': '60s' }, ["'a.heartbeat-timout'", "'heartbeat-timeout'"]],
    [{ heartbeatIntervall: 60 }, ["'a.heartbeatIntervall'", "'heartbeat-interval'"]],
    [{ folder: '/x' }, ["'a.folder' is not a setting that anything reads"]],
    [{ 'heartbeat-timeout': '60s', maxHold: '1h', 'lease-retry-interval': '1s' }, []],
  ])('warns once about an unknown key: %j', async (settings, parts) => {
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) }
    const a = { 'lease-class': 'memory', 'heartbeat-interval': '6s', ...settings }
    await using provider = new LeaseProvider({ a }, factories, { logger })
    await provider.getLease('nightly', 'a')
    await provider.getLease('hourly', 'a')
    expect(warnings).toHaveLength(parts.length === 0 ? 0 : 1)
    for (const part of parts) expect(warnings[0]).toContain(part)
  })

  it('warns only about misspelled keys of the engine if the factory declares no options', async () => {
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) }
    const own: LeaseFactory = (settings, context) => memoryLease(settings, context)
    await using provider = new LeaseProvider({ a: { leaseClass: own, table: 'leases', maxHodl: '1h' } }, {}, { logger })
    await provider.getLease('nightly', 'a')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain("did you mean 'max-hold'?")
  })

  it('rejects an invalid name, and does not cache the failure', async () => {
    let broken = true
    const flaky: LeaseFactory = (settings, context) => {
      if (broken) throw new Error('not yet')
      return memoryLease(settings, context)
    }
    await using provider = new LeaseProvider({ a: { leaseClass: flaky } })
    await expect(provider.getLease('', 'a')).rejects.toBeInstanceOf(LeaseNameError)
    await expect(provider.getLease('job', 'a')).rejects.toThrow('not yet')
    broken = false
    expect(await (await provider.getLease('job', 'a')).acquire()).toBe(true)
  })
})

describe('LeaseProvider.close', () => {
  it('notifies the holders, releases their leases, closes the stores, and rejects later calls', async () => {
    const store = new MemoryLeaseStore()
    const factory: LeaseFactory = async (settings, { share }) =>
      new StoreLease(settings, await share('shared', () => store), { logger: silentLogger })
    const provider = new LeaseProvider({ a: { leaseClass: factory } })
    const lease = await provider.getLease('job', 'a')
    const losses: unknown[] = []
    await lease.acquire({ onLost: (lost) => losses.push(lost) })
    await provider.close()
    expect(losses).toEqual([{ reason: 'closed' }])
    await expect(store.read('job', new AbortableCall())).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(provider.getLease('job', 'a')).rejects.toBeInstanceOf(LeaseUnavailableError)
    await provider.close()
  })

  it('does not wait for a hanging store beyond its deadline', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const factory: LeaseFactory = async (settings, context) =>
      createLease(await context.share('shared', () => store), settings.name, { clock, logger: silentLogger })
    const provider = new LeaseProvider({ a: { leaseClass: factory } }, {}, { clock, logger: silentLogger })
    const lease = await provider.getLease('job', 'a')
    await lease.acquire()
    store.release = () => new Promise(() => {})
    store.close = () => new Promise(() => {})
    const closed = provider.close()
    await clock.advance(20_000)
    await closed
  })
})
