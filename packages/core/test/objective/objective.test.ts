import { adviseDurations, createLease, type DurationAdvice, MemoryLeaseStore, TimeoutSettings } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

const objective = { failover: 5_000, falseLossesPerYear: 1 }

/** A store in virtual time that answers after a delay, in milliseconds. */
function setUp(delay: (call: number) => number, warnings: string[] = []) {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  let calls = 0
  const renewals: number[] = []
  const slow = new Proxy(memory, {
    get(target, key) {
      if (key === 'renewMany' || key === 'watch' || key === 'watchGrant') return undefined
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (key !== 'renew' && key !== 'acquire') return value.bind(target)
      return async (...given: unknown[]) => {
        calls += 1
        if (key === 'renew') renewals.push(clock.now())
        await new Promise<void>((resolve) => void clock.schedule(delay(calls), resolve))
        return await value.apply(target, given)
      }
    },
  })
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  return { clock, store: slow, renewals, logger }
}

describe('an objective', () => {
  it('gives a ttl within the fail-over before anything is known', async () => {
    const { clock, store, logger } = setUp(() => 2)
    const lease = createLease(store, 'job', { objective, clock, logger })
    expect(lease.advice).toMatchObject({ kept: true, forecast: undefined, heartbeatTimeout: 4_500 })
    const acquired = lease.acquire()
    await clock.advance(10)
    expect(await acquired).toBe(true)
    expect((await lease.holder())?.ttl).toBe(4_500)
  })

  it('learns round trips, and the next grant has the ttl that they allow', async () => {
    const { clock, store, logger } = setUp(() => 2)
    const lease = createLease(store, 'job', { objective, clock, logger, random: () => 0.5 })
    void lease.acquire()
    await clock.advance(300_000)
    const { advice } = lease
    expect(advice?.reason).toBeUndefined()
    expect(advice?.forecast).toBeLessThan(0.1)
    expect(advice?.heartbeatTimeout).toBeGreaterThan(4_900)
    // The ttl of the grant in force is the one in its record.
    expect((await lease.holder())?.ttl).toBe(4_500)
    void lease.release()
    await clock.advance(1_000)
    void lease.acquire()
    await clock.advance(1_000)
    expect((await lease.holder())?.ttl).toBe(advice?.heartbeatTimeout)
  })

  it('counts the validity of a grant in force from the ttl in its record (rule 1)', async () => {
    const { clock, store, logger } = setUp(() => 2)
    const lease = createLease(store, 'job', { objective, clock, logger })
    void lease.acquire()
    let longest = 0
    for (let step = 0; step < 3_000; step += 1) {
      await clock.advance(100)
      longest = Math.max(longest, lease.remaining)
    }
    expect(lease.advice?.heartbeatTimeout).toBeGreaterThan(4_900)
    expect(longest).toBeLessThanOrEqual(4_500 * 0.99 - 25)
  })

  it('sends heartbeats by the times that it has chosen, also during a grant', async () => {
    const { clock, store, logger, renewals } = setUp(() => 2)
    const lease = createLease(store, 'job', { objective, clock, logger, random: () => 0 })
    const advices: DurationAdvice[] = []
    lease.on('advised', (advice) => void advices.push(advice))
    void lease.acquire()
    await clock.advance(400_000)
    expect(advices.length).toBeGreaterThan(0)
    const [last = 0, before = 0] = renewals.slice(-2).reverse()
    const { heartbeatInterval = 0 } = advices.at(-1) ?? {}
    expect(last - before).toBeLessThanOrEqual(heartbeatInterval)
    expect(last - before).toBeGreaterThan(0.85 * heartbeatInterval)
  })

  it('says in advance that it cannot be kept, once for all leases of the store', async () => {
    const warnings: string[] = []
    // One answer in ten takes 1.9 s.
    const { clock, store, logger } = setUp((call) => (call % 10 === 9 ? 1_900 : 20), warnings)
    const options = { objective: { failover: 3_000, falseLossesPerYear: 1 }, maxHold: 3_600_000, clock, logger }
    const leases = ['one', 'two', 'three'].map((name) => createLease(store, name, options))
    for (const lease of leases) void lease.acquire()
    await clock.advance(600_000)
    expect(leases[0]?.advice).toMatchObject({ kept: false })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      /the objective cannot be kept: p99\.9 of your store is more than \S+ m?s: 3 s would cost .* false losses a year, not 1; allow more losses, or a failover of/,
    )
  })

  it('learns failures of the store, and does not count a release as a loss', async () => {
    const clock = new VirtualClock()
    const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock })
    const lease = createLease(store, 'job', { objective, clock, logger: silentLogger })
    await lease.acquire()
    await clock.advance(60_000)
    await lease.release()
    expect(lease.advice?.kept).toBe(true)
  })

  it('keeps its first ttl where other parts of the lease have taken it', async () => {
    const { clock, store, logger } = setUp(() => 2)
    const lease = createLease(store, 'job', { objective, clock, logger, childGrace: 1_000 })
    void lease.acquire()
    await clock.advance(300_000)
    expect(lease.advice).toMatchObject({ heartbeatTimeout: 4_500 })
    expect(lease.advice?.forecast).toBeDefined()
  })

  it.each([2.5, 3, 4])('is held again where the store takes %f times its time limit', async (factor) => {
    let delay = 2
    const { clock, store, logger } = setUp(() => delay)
    const lease = createLease(store, 'job', { objective, clock, logger, maxHold: 86_400_000 })
    let losses = 0
    lease.on('lost', () => {
      losses += 1
      void lease.acquire({ wait: Number.POSITIVE_INFINITY })
    })
    void lease.acquire()
    await clock.advance(3_600_000)
    const chosen = lease.advice?.operationTimeout ?? 0
    delay = factor * chosen
    await clock.advance(60_000)
    expect(lease.checkLease()).toBe(true)
    expect(losses).toBe(1)
    // The durations in use are those of the advice.
    expect(lease.advice?.operationTimeout).toBeGreaterThan(delay)
    await clock.advance(7_200_000)
    expect(lease.checkLease()).toBe(true)
    // A ttl that is revised counts from the next grant on.
    await clock.advance(7_200_000)
    expect(lease.checkLease()).toBe(true)
    expect(losses).toBeLessThanOrEqual(3)
    expect(lease.advice?.kept).toBe(false)
  })

  it('waits longer for a slow store only until a claim is answered in time again', async () => {
    let delay = 2
    const { clock, store, logger } = setUp(() => delay)
    const lease = createLease(store, 'job', { objective, clock, logger, maxHold: 86_400_000 })
    void lease.acquire()
    await clock.advance(3_600_000)
    const chosen = lease.advice?.operationTimeout ?? 0
    void lease.release()
    await clock.advance(1_000)
    delay = 2.5 * chosen
    void lease.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.advance(60_000)
    expect(lease.checkLease()).toBe(true)
    delay = 2
    void lease.release()
    await clock.advance(1_000)
    void lease.acquire()
    await clock.advance(60_000)
    expect(lease.advice?.operationTimeout).toBeLessThan(1.5 * chosen)
  })

  it('waits for a silent store for no longer than is left of a ttl after a heartbeat at 30 % of it', async () => {
    let delay = 2
    const { clock, store, logger } = setUp(() => delay)
    const parts: number[] = []
    const watched = new Proxy(store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (key !== 'acquire') return typeof value === 'function' ? value.bind(target) : value
        return (...[request, call]: Parameters<typeof store.acquire>) => {
          parts.push((call?.timeout ?? 0) / request.ttl)
          return target.acquire(request, call)
        }
      },
    })
    const lease = createLease(watched, 'job', { objective, clock, logger })
    void lease.acquire()
    await clock.advance(60_000)
    void lease.release()
    await clock.advance(1_000)
    delay = 600_000
    lease.acquire({ wait: 300_000 }).catch(() => {})
    await clock.advance(300_000)
    expect(Math.max(...parts)).toBeGreaterThan(0.5)
    expect(Math.max(...parts)).toBeLessThanOrEqual(0.6)
  })

  it('leaves leases without one as they are', async () => {
    const { clock, store, logger } = setUp(() => 2)
    const lease = createLease(store, 'job', { heartbeatTimeout: 10_000, clock, logger })
    void lease.acquire()
    await clock.advance(100_000)
    expect(lease.advice).toBeUndefined()
  })
})

describe('an objective that is not valid is a LeaseConfigurationError that says what to change', () => {
  const store = new MemoryLeaseStore()
  const azure = Object.assign(new MemoryLeaseStore(), { limits: { ...store.limits, minTtl: 15_000, maxTtl: 60_000 } })

  it.each([
    [5_000, /^objective must be an object such as \{ failover: 5_000, falseLossesPerYear: 1 \}, not 5000/],
    [{ failover: 5_000 }, /has no falseLossesPerYear/],
    [{ falseLossesPerYear: 1 }, /has no failover/],
    [{ ...objective, failover: -1 }, /objective.failover must be a positive, finite number of milliseconds, not -1/],
    [{ ...objective, failover: Number.POSITIVE_INFINITY }, /objective.failover must be a positive, finite/],
    [{ ...objective, failover: 50 }, /objective.failover must be at least 120 ms, not 50/],
    [
      { ...objective, falseLossesPerYear: 0 },
      /objective.falseLossesPerYear must be a positive number such as 1 or 0.1/,
    ],
    [{ ...objective, falseLossesPerYear: -2 }, /because no ttl excludes a loss, not -2/],
    [
      { ...objective, falseLossPerYear: 1 },
      /objective has no option 'falseLossPerYear': did you mean 'falseLossesPerYear'/,
    ],
  ])('%j', (given, message) => {
    expect(() => createLease(store, 'job', { objective: given as never })).toThrow(message)
    expect(() => new TimeoutSettings({ objective: given as never })).toThrow(message)
    expect(() => adviseDurations(given as never, { roundTrips: [] })).toThrow(message)
  })

  it.each(['heartbeatTimeout', 'heartbeatInterval', 'operationTimeout', 'strategy'])('beside %s', (option) => {
    const options = { objective, [option]: option === 'strategy' ? 'eager' : 1_000 }
    expect(() => createLease(store, 'job', options)).toThrow(
      `objective chooses the durations by itself: leave out ${option}, or leave out objective and give the durations`,
    )
  })

  it('a fail-over that the store cannot keep', () => {
    expect(() => createLease(azure, 'job', { objective })).toThrow(
      /^objective.failover is 5000 ms, but the \S+ store frees the name of a dead holder after 15000 ms at the earliest: set it to more than that, such as 16500 ms/,
    )
  })

  it('a ttl within the limits of the store is chosen where that keeps the fail-over', () => {
    const { advice } = createLease(azure, 'job', { objective: { failover: 90_000, falseLossesPerYear: 1 } })
    expect(advice?.heartbeatTimeout).toBe(60_000)
  })
})
