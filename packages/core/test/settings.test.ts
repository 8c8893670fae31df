import {
  createLease,
  LeaseConfigurationError,
  LeaseNameError,
  LeaseSettings,
  type LeaseStore,
  MemoryLeaseStore,
  type TimeoutOptions,
  TimeoutSettings,
} from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { ScriptedStore } from './support/scripted-store.js'

describe('TimeoutSettings', () => {
  it("has Akka's defaults: 12 s, 120 s, 5 s", () => {
    expect(new TimeoutSettings()).toMatchObject({
      heartbeatInterval: 12_000,
      heartbeatTimeout: 120_000,
      operationTimeout: 5_000,
      strategy: { name: 'interval' },
    })
  })

  it.each([
    [300_000, 30_000],
    [60_000, 6_000],
    [30_000, 5_000],
    [Number.POSITIVE_INFINITY, 12_000],
  ])('the default interval for a timeout of %d ms is %d ms: max(timeout / 10, 5 s)', (heartbeatTimeout, interval) => {
    expect(new TimeoutSettings({ heartbeatTimeout }).heartbeatInterval).toBe(interval)
  })

  it.each<[TimeoutOptions, heartbeatTimeout: number, heartbeatInterval: number, operationTimeout: number]>([
    // Akka's defaults where they fit.
    [{ heartbeatTimeout: 20_001 }, 20_001, 5_000, 5_000],
    [{ operationTimeout: 50_000 }, 120_000, 12_000, 50_000],
    // A short ttl: a fifth of it for each.
    [{ heartbeatTimeout: 20_000 }, 20_000, 4_000, 4_000],
    [{ heartbeatTimeout: 15_000 }, 15_000, 3_000, 3_000],
    [{ heartbeatTimeout: 10_000 }, 10_000, 2_000, 2_000],
    [{ heartbeatTimeout: 5_000 }, 5_000, 1_000, 1_000],
    [{ heartbeatTimeout: 100 }, 100, 20, 20],
    // The rest of a ttl.
    [{ heartbeatTimeout: 10_000, heartbeatInterval: 2_500 }, 10_000, 2_500, 1_250],
    [{ heartbeatTimeout: 10_000, operationTimeout: 4_000 }, 10_000, 1_500, 4_000],
    // A ttl that is long enough.
    [{ heartbeatInterval: 60_000 }, 245_000, 60_000, 5_000],
    [{ operationTimeout: 200_000 }, 1_000_000, 200_000, 200_000],
    // The other strategies have rules of their own.
    [{ heartbeatTimeout: 10_000, strategy: 'lazy' }, 10_000, 2_000, 2_000],
    [{ heartbeatTimeout: 12_000, strategy: 'lazy' }, 12_000, 5_000, 5_000],
    [{ operationTimeout: 100_000, strategy: 'adaptive' }, 500_000, 100_000, 100_000],
  ])('derives the missing durations from %j', (given, heartbeatTimeout, heartbeatInterval, operationTimeout) => {
    expect(new TimeoutSettings(given)).toMatchObject({ heartbeatTimeout, heartbeatInterval, operationTimeout })
  })

  it('derives valid durations from every one or two valid durations that do not contradict each other', () => {
    const strategies = ['interval', 'eager', 'lazy', 'adaptive'] as const
    for (const strategy of strategies) {
      for (const duration of [100, 101, 999, 5_000, 20_000, 61_234.5, 86_400_000]) {
        expect(new TimeoutSettings({ strategy, heartbeatTimeout: duration }).heartbeatTimeout).toBe(duration)
        expect(new TimeoutSettings({ strategy, heartbeatInterval: duration }).heartbeatInterval).toBe(duration)
        expect(new TimeoutSettings({ strategy, operationTimeout: duration }).operationTimeout).toBe(duration)
        const pair = { strategy, heartbeatTimeout: duration, heartbeatInterval: duration / 4 }
        expect(new TimeoutSettings(pair)).toMatchObject({ heartbeatInterval: duration / 4 })
      }
    }
  })

  it('sends no heartbeats for a lease that does not expire, if heartbeatInterval is Infinity', async () => {
    const infinite = { heartbeatTimeout: Number.POSITIVE_INFINITY, heartbeatInterval: Number.POSITIVE_INFINITY }
    for (const strategy of ['interval', 'eager', 'lazy', 'adaptive'] as const) {
      expect(new TimeoutSettings({ ...infinite, strategy })).toMatchObject(infinite)
    }
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const renewals = vi.spyOn(store, 'renew')
    const batches = vi.spyOn(store, 'renewMany')
    const lease = createLease(store, 'job', { ...infinite, clock })
    expect(await lease.acquire()).toBe(true)
    await clock.advance(30 * 86_400_000)
    expect(lease.checkLease()).toBe(true)
    expect([...renewals.mock.calls, ...batches.mock.calls]).toEqual([])
    expect(await lease.release()).toBe(true)
  })

  it('refuses a heartbeatInterval of Infinity for a lease that expires', () => {
    expect(() => new TimeoutSettings({ heartbeatInterval: Number.POSITIVE_INFINITY })).toThrow(
      'heartbeatInterval may be Infinity only with heartbeatTimeout = Infinity',
    )
  })

  it('requires heartbeatTimeout > 3 × heartbeatInterval + operationTimeout, and says which number to change', () => {
    const times = { heartbeatInterval: 1_000, operationTimeout: 500 }
    expect(new TimeoutSettings({ ...times, heartbeatTimeout: 3_501 }).heartbeatTimeout).toBe(3_501)
    expect(() => new TimeoutSettings({ ...times, heartbeatTimeout: 3_500 })).toThrow(
      'heartbeatTimeout (3500 ms) must be larger than 3 × heartbeatInterval (1000 ms) + operationTimeout (500 ms) = ' +
        '3500 ms, so that a failed heartbeat can be repeated: raise heartbeatTimeout, or lower heartbeatInterval or ' +
        'operationTimeout',
    )
  })

  it.each<TimeoutOptions>([
    { heartbeatInterval: 0 },
    { heartbeatInterval: Number.POSITIVE_INFINITY },
    { heartbeatTimeout: Number.NaN },
    { heartbeatTimeout: -1 },
    { heartbeatTimeout: 99, heartbeatInterval: 1, operationTimeout: 1 },
    { operationTimeout: 0 },
    { operationTimeout: '5s' as never },
    { strategy: 'toString' as never },
    { strategy: 'eager', heartbeatTimeout: 10_000, operationTimeout: 4_600 },
    { strategy: 'lazy', heartbeatTimeout: 10_000, operationTimeout: 4_600 },
    { strategy: 'adaptive', heartbeatTimeout: 10_000, operationTimeout: 4_600 },
  ])('rejects %j', (options) => {
    expect(() => new TimeoutSettings(options)).toThrow(LeaseConfigurationError)
  })

  it('requires only time for two attempts with the other strategies', () => {
    expect(
      new TimeoutSettings({ strategy: 'eager', heartbeatTimeout: 10_000 - 1, operationTimeout: 4_000 }),
    ).toBeDefined()
  })
})

describe('LeaseSettings', () => {
  it('generates a unique owner', () => {
    const [one, other] = [new LeaseSettings({ name: 'job' }), new LeaseSettings({ name: 'job' })]
    expect(one.owner).toMatch(new RegExp(`^.+-${process.pid}-[\\w-]{10}$`))
    expect(one.owner).not.toBe(other.owner)
  })

  it.each([0, -5, Number.NaN, '1s' as never])('rejects a maxHold of %s', (maxHold) => {
    expect(() => new LeaseSettings({ name: 'job', maxHold })).toThrow(LeaseConfigurationError)
  })

  it('takes null for a maxHold and a retryInterval that were not given, as plain JavaScript may pass it', () => {
    const { maxHold, retryInterval } = new LeaseSettings({
      name: 'job',
      maxHold: null as never,
      retryInterval: null as never,
    })
    expect([maxHold, retryInterval]).toEqual([
      Number.POSITIVE_INFINITY,
      new LeaseSettings({ name: 'job' }).retryInterval,
    ])
  })

  it('rejects an invalid name and an invalid owner', () => {
    expect(() => new LeaseSettings({ name: '' })).toThrow(LeaseNameError)
    expect(() => new LeaseSettings({ name: 'job', owner: '\ud800' })).toThrow(LeaseNameError)
  })
})

describe('the limits of the store', () => {
  const limited = (limits: Partial<LeaseStore['limits']>): LeaseStore => new ScriptedStore(limits)

  it('accept a ttl within them', () => {
    expect(createLease(limited({ minTtl: 15_000, maxTtl: 60_000 }), 'job', { heartbeatTimeout: 60_000 })).toBeDefined()
    expect(createLease(new MemoryLeaseStore(), 'job', { heartbeatTimeout: Number.POSITIVE_INFINITY })).toBeDefined()
  })

  it('reject any other ttl in createLease, with the accepted range', () => {
    const store = limited({ minTtl: 15_000, maxTtl: 60_000, infinite: false })
    expect(() => createLease(store, 'job')).toThrow(
      'heartbeatTimeout is 120000 ms, but the scripted store accepts 15000 to 60000 ms: change it',
    )
    expect(() => createLease(store, 'job', { heartbeatTimeout: Number.POSITIVE_INFINITY })).toThrow(
      LeaseConfigurationError,
    )
  })
})
