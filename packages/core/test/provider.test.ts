import {
  createLease,
  LeaseConfigurationError,
  type LeaseFactory,
  LeaseNameError,
  LeaseProvider,
  LeaseUnavailableError,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
} from '@leasehold/core'
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

  it('takes the same settings as a plain object in the names of the code, and a factory as a value', async () => {
    await using provider = new LeaseProvider(config)
    const lease = await provider.getLease('nightly', 'leasehold.endless')
    expect(lease.settings.timeouts.heartbeatTimeout).toBe(Number.POSITIVE_INFINITY)
  })

  it('takes whatever shows itself as a plain object', async () => {
    await using provider = new LeaseProvider({ toObject: () => config }, factories)
    expect(await provider.getLease('nightly', 'leasehold.jobs')).toBeInstanceOf(StoreLease)
  })

  it('gives one instance for each name, path and owner', async () => {
    await using provider = new LeaseProvider(config, factories)
    const [one, same] = await Promise.all([
      provider.getLease('nightly', 'leasehold.jobs'),
      provider.getLease('nightly', 'leasehold.jobs'),
    ])
    expect(same).toBe(one)
    expect(await provider.getLease('nightly', 'leasehold.jobs', 'other')).not.toBe(one)
    expect(await provider.getLease('hourly', 'leasehold.jobs')).not.toBe(one)
  })

  it('leases of one path contend for one store', async () => {
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
    [{ 'lease-class': 'redis' }, "'a' names the lease-class 'redis', which is not among the factories given (memory)"],
    [{ 'lease-class': 'toString' }, 'not among the factories'],
    [{}, "'a' names no lease-class: set it to one of the factories given (memory)"],
    [{ 'lease-class': 'memory', 'heartbeat-timeout': '5 parsecs' }, 'heartbeatTimeout must be a duration'],
    [{ 'lease-class': 'memory', 'heartbeat-timeout': '10s' }, 'raise heartbeatTimeout'],
  ])('of the block %j fails: %s', async (block, message) => {
    await using provider = new LeaseProvider({ a: block }, factories)
    await expect(provider.getLease('nightly', 'a')).rejects.toThrow(message)
    await expect(provider.getLease('nightly', 'a')).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('of a bad name fails, and a failure is not kept', async () => {
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
  it('tells the holders, frees what they held, closes the stores, and refuses from then on', async () => {
    const store = new MemoryLeaseStore()
    const factory: LeaseFactory = async (settings, { share }) =>
      new StoreLease(settings, await share('shared', () => store), { logger: silentLogger })
    const provider = new LeaseProvider({ a: { leaseClass: factory } })
    const lease = await provider.getLease('job', 'a')
    const losses: unknown[] = []
    await lease.acquire({ onLost: (lost) => losses.push(lost) })
    await provider.close()
    expect(losses).toEqual([{ reason: 'closed' }])
    await expect(store.read('job', new AbortController().signal)).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(provider.getLease('job', 'a')).rejects.toBeInstanceOf(LeaseUnavailableError)
    await provider.close()
  })

  it('does not wait for ever for a store that hangs', async () => {
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
