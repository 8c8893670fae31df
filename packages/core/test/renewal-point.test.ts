import { parseHocon } from '@leasehold/config'
import {
  createLease,
  durations,
  LeaseConfigurationError,
  LeaseProvider,
  LeaseSettings,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
  TimeoutSettings,
} from '@leasehold/core'
import { type Fault, FaultyStore, VirtualClock } from '@leasehold/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validityOf } from '../src/time/validity.js'
import { beat, LIMIT, setUpHeld, silentLogger, TTL } from './support/held-lease.js'

describe('the strategy { renewAt }', () => {
  it('renews when that part of the ttl has passed', async () => {
    const fixture = await setUpHeld({ strategy: { renewAt: 0.3 }, heartbeatInterval: undefined, random: () => 0 })
    await fixture.clock.advance(TTL * 0.3 - 1)
    expect(fixture.store.count('renew')).toBe(0)
    await fixture.clock.advance(1)
    expect(fixture.store.count('renew')).toBe(1)
    await beat(fixture, TTL)
    expect(fixture.losses).toEqual([])
  })

  it.each([0, 0.5, 0.999])(
    'renews no more than an eighth of that earlier, with random numbers of %d',
    async (drawn) => {
      const random = (): number => drawn
      const { clock, store } = await setUpHeld({ strategy: { renewAt: 0.3 }, heartbeatInterval: undefined, random })
      const point = 0.3 * TTL
      let sentAt = 0
      const passedSince = (): number => clock.now() - sentAt
      const renewal = async (): Promise<number> => {
        const before = store.count('renew')
        while (store.count('renew') === before && passedSince() < TTL) await clock.advance(10)
        return passedSince()
      }
      const expectPoint = (passed: number): void => {
        expect(passed).toBeGreaterThan(0.875 * point)
        expect(passed).toBeLessThanOrEqual(point + 10)
      }
      // The first of the grant, then a usual one.
      for (let times = 0; times < 2; times += 1) {
        expectPoint(await renewal())
        sentAt = clock.now()
        store.last('renew').answer('yes')
        await clock.settle()
      }
      // The first after a failure.
      expectPoint(await renewal())
      store.last('renew').fail(new Error('ECONNRESET'))
      await renewal()
      sentAt = clock.now()
      store.last('renew').answer('yes')
      await clock.settle()
      expectPoint(await renewal())
    },
  )

  it('sets the interval that it means', () => {
    expect(new TimeoutSettings({ strategy: { renewAt: 0.3 } }).heartbeatInterval).toBe(36_000)
    const infinite = { heartbeatTimeout: Number.POSITIVE_INFINITY, strategy: { renewAt: 0.3 } }
    expect(new TimeoutSettings(infinite).heartbeatInterval).toBe(12_000)
  })

  it('leaves time for two attempts, whichever durations are derived', () => {
    const part = fc.double({ min: 0.01, max: 0.9, noNaN: true })
    const ttl = fc.option(fc.integer({ min: 1_000, max: 3_600_000 }), { nil: undefined })
    const limit = fc.option(fc.integer({ min: 10, max: 30_000 }), { nil: undefined })
    fc.assert(
      fc.property(part, ttl, limit, (renewAt, heartbeatTimeout, operationTimeout) => {
        fc.pre(heartbeatTimeout === undefined || operationTimeout === undefined)
        const times = new TimeoutSettings({ strategy: { renewAt }, heartbeatTimeout, operationTimeout })
        const { after } = times.strategy.plan(times, 0)
        expect(after).toBeCloseTo(renewAt * times.heartbeatTimeout)
        expect(validityOf(times.heartbeatTimeout) - after).toBeGreaterThan(2 * times.operationTimeout)
        if (heartbeatTimeout !== undefined) expect(times.heartbeatTimeout).toBe(heartbeatTimeout)
        if (operationTimeout !== undefined) expect(times.operationTimeout).toBe(operationTimeout)
      }),
    )
  })

  it.each([0, 1, -0.1, 1.5, Number.NaN, '0.3', undefined])('refuses %s as a part', (renewAt) => {
    const strategy = { renewAt } as { renewAt: number }
    expect(() => new TimeoutSettings({ strategy })).toThrow(/renewAt must be a part of the ttl, larger than 0/)
  })

  it('says which number to change when too little of the validity is left', () => {
    const given = { strategy: { renewAt: 0.8 }, heartbeatTimeout: 10_000, operationTimeout: 2_000 }
    expect(() => new TimeoutSettings(given)).toThrow(LeaseConfigurationError)
    expect(() => new TimeoutSettings(given)).toThrow(
      'renewAt (0.8) of a heartbeatTimeout of 10000 ms leaves 1875 ms of the validity, but 2 attempts with an ' +
        'operationTimeout of 2000 ms take 4400 ms: lower renewAt, raise heartbeatTimeout or lower operationTimeout',
    )
    expect(() => new TimeoutSettings({ strategy: { renewAt: 0.995 } })).toThrow(/leaves nothing of the validity/)
  })

  it('refuses a misspelled option beside it', () => {
    const strategy = { renewAt: 0.3, renewat: 0.4 }
    expect(() => new TimeoutSettings({ strategy })).toThrow("did you mean 'renewAt'?")
  })
})

describe('the manual strategy in settings', () => {
  it('needs no room for heartbeats: only a ttl above the operation timeout', () => {
    const given = { strategy: 'manual', heartbeatTimeout: 2_100, operationTimeout: 2_000 } as const
    expect(new TimeoutSettings(given)).toMatchObject({ heartbeatTimeout: 2_100, operationTimeout: 2_000 })
    expect(() => new TimeoutSettings({ ...given, heartbeatTimeout: 2_000 })).toThrow(
      'heartbeatTimeout (2000 ms) must be larger than operationTimeout (2000 ms)',
    )
  })

  it('derives an operation timeout below a short ttl', () => {
    const { operationTimeout } = new TimeoutSettings({ strategy: 'manual', heartbeatTimeout: 1_000 })
    expect(operationTimeout).toBeLessThan(1_000)
  })
})

describe('a strategy in a configuration', () => {
  const fallback = 'leasehold.lease { lease-class = memory, strategy = interval }\n'

  async function settingsOf(block: string): Promise<TimeoutSettings> {
    await using provider = new LeaseProvider(parseHocon(`${fallback}jobs { ${block} }`), { memory: memoryLease })
    const lease = await provider.getLease('report', 'jobs')
    return lease.settings.timeouts
  }

  it.each([
    'strategy { renew-at = 0.3 }',
    'strategy.renew-at = 0.3',
    'strategy = { renewAt: 0.3 }',
    'strategy { renew-at = "0.3" }',
  ])('%s', async (block) => {
    const times = await settingsOf(`heartbeat-timeout = 60s, ${block}`)
    expect(times.strategy.plan(times, 0).after).toBe(18_000)
  })

  it('strategy = manual', async () => {
    const times = await settingsOf('heartbeat-timeout = 20 minutes, strategy = manual')
    expect(times.strategy).toMatchObject({ name: 'manual', isManual: true })
  })

  it.each(['strategy { renew-at = 1.2 }', 'strategy { renew-at = soon }', 'strategy { renew-at = "" }'])(
    '%s is refused',
    async (block) => {
      await expect(settingsOf(block)).rejects.toThrow(/renewAt must be a part of the ttl/)
    },
  )

  it('a misspelled key in it is refused', async () => {
    await expect(settingsOf('strategy { renew-at = 0.3, renewat = 0.4 }')).rejects.toThrow("did you mean 'renewAt'?")
  })
})

describe('durations', () => {
  const minute = 60_000
  it.each([
    ['leaderElection', 5_000, 15_000, 0.3],
    ['distributedLock', 10_000, 30_000, 0.5],
    ['job', minute, 60 * minute, 0.8],
    ['session', 5 * minute, 30 * minute, undefined],
    ['reservation', 60 * minute, 24 * 60 * minute, undefined],
    ['cacheEntry', minute, 60 * minute, undefined],
  ] as const)('%s is valid on its own, with a ttl of %d to %d ms, renewed at %s', (name, least, largest, renewAt) => {
    const times = new TimeoutSettings(durations[name])
    expect(times.heartbeatTimeout).toBeGreaterThanOrEqual(least)
    expect(times.heartbeatTimeout).toBeLessThanOrEqual(largest)
    expect(times.strategy.isManual === true).toBe(renewAt === undefined)
    if (renewAt !== undefined) expect(times.strategy.plan(times, 0).after).toBe(renewAt * times.heartbeatTimeout)
    expect(createLease(new MemoryLeaseStore(), 'job', { ...durations[name] }).state).toBe('idle')
  })

  it('can be spread beside other durations', () => {
    const times = new TimeoutSettings({ ...durations.job, heartbeatTimeout: 30 * minute })
    expect(times.strategy.plan(times, 0).after).toBe(24 * minute)
  })

  it('a store whose limits exclude the ttl says which it accepts', () => {
    const store = new MemoryLeaseStore()
    const azure = Object.assign(store, { limits: { minTtl: 15_000, maxTtl: 60_000, infinite: true, ordered: false } })
    for (const name of ['leaderElection', 'distributedLock'] as const) createLease(azure, 'job', durations[name])
    for (const name of ['job', 'session', 'reservation', 'cacheEntry'] as const) {
      expect(() => createLease(azure, 'job', durations[name])).toThrow(
        /heartbeatTimeout is \d+ ms, but the memory store accepts 15000 to 60000 ms, or Infinity: change it/,
      )
    }
  })
})

describe('a lease renewed at 80 %', () => {
  it('survives a store that fails for less than the rest', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const timeouts = new TimeoutSettings({
      heartbeatTimeout: TTL,
      operationTimeout: LIMIT / 2,
      strategy: { renewAt: 0.8 },
    })
    let isDown = false
    const plan = (): Fault | undefined =>
      isDown ? { kind: 'fail-before', error: new Error('ECONNREFUSED') } : undefined
    const flaky = new FaultyStore(store, { clock, plan })
    const lease = new StoreLease(new LeaseSettings({ name: 'job', timeouts }), flaky, { clock, logger: silentLogger })
    await lease.acquire()
    isDown = true
    await clock.advance(TTL * 0.85)
    expect(lease.state).toBe('jeopardy')
    isDown = false
    await clock.advance(TTL * 0.5)
    expect(lease.state).toBe('held')
  })
})
