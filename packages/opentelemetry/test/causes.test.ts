import {
  breakLease,
  type CreateLeaseOptions,
  createLease,
  type Held,
  MemoryGuard,
  MemoryLeaseStore,
  type Metadata,
  readLease,
} from '@leasehold/core'
import { LeaderElection, PartitionGroup, Schedule, Semaphore } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type InstrumentLeasesOptions, instrumentLeases } from '../src/index.js'
import { Telemetry } from './support/telemetry.js'

const TTL = 12_000
const times = { heartbeatTimeout: TTL, heartbeatInterval: 2_000, operationTimeout: 1_000 }

/** Leases in virtual time, over a store that fails on demand, and the metrics of their groups. */
function setUp(more: InstrumentLeasesOptions = {}) {
  const clock = new VirtualClock()
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock })
  const telemetry = new Telemetry()
  const { meterProvider, tracerProvider } = telemetry
  const instrumentation = instrumentLeases({ meterProvider, tracerProvider, clock, ...more })
  onTestFinished(async () => {
    instrumentation.disable()
    await telemetry.shutdown()
  })
  const options = { ...times, clock, logger: silentLogger, random: () => 0.5 }
  const lease = (name: string, owner: string, own: CreateLeaseOptions = {}) =>
    createLease(store, name, { ...options, owner, ...own })
  /** Lets time pass until the promise has settled. */
  const during = async <T>(promise: Promise<T>, longest = 10 * TTL): Promise<T> => {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    expect(await clock.time.advanceUntil(() => isOver, longest)).toBe(true)
    return await promise
  }
  return { clock, store, telemetry, options, lease, during }
}

const untilAborted = ({ signal }: Held) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))

const group = { store: 'memory', 'lease.group': 'job-*' }

describe('a lease', () => {
  it('is counted while it is held, with its validity and the margin of its heartbeats', async () => {
    const { clock, telemetry, lease, during } = setUp()
    const job = lease('job-1', 'a')
    expect(await during(job.acquire())).toBe(true)
    expect(await telemetry.series('leasehold.lease.held')).toEqual([{ ...group, value: 1 }])
    const [validity] = await telemetry.series('leasehold.validity.min')
    expect(validity).toEqual({ ...group, value: job.remaining / 1_000 })
    await clock.advance(10_000)
    const [margin] = await telemetry.series('leasehold.renewal.margin')
    expect(margin).toMatchObject(group)
    const mean = (margin?.sum ?? 0) / (margin?.value ?? 0)
    expect(mean).toBeGreaterThan(0.6)
    expect(mean).toBeLessThan(1)
    const [renewals] = await telemetry.series('leasehold.renewal.duration')
    expect(renewals).toMatchObject({ store: 'memory', value: margin?.value, outcome: expect.any(String) })
    await during(job.release())
    expect(await telemetry.series('leasehold.lease.held')).toEqual([{ ...group, value: 0 }])
    expect(await telemetry.series('leasehold.validity.min')).toEqual([{ ...group, value: Number.NaN }])
    const [hold] = await telemetry.series('leasehold.hold.duration')
    expect(hold).toMatchObject({ ...group, end: 'released', value: 1 })
    expect(hold?.sum).toBeCloseTo(10, 1)
  })

  it('measures the operations of its store', async () => {
    const { store, telemetry, lease, during } = setUp()
    const job = lease('job-1', 'a')
    store.inject({ kind: 'delay', duration: 300 }, 'acquire')
    await during(job.acquire())
    await during(job.release())
    const operations = await telemetry.series('leasehold.store.operation.duration')
    const acquire = operations.find(({ operation }) => operation === 'acquire')
    expect(acquire).toMatchObject({ store: 'memory', value: 1, outcome: expect.any(String) })
    expect(acquire?.sum).toBeCloseTo(0.3, 2)
    expect(operations.map(({ operation }) => operation)).toContain('release')
  })

  it('counts calls by their outcome', async () => {
    const { store, telemetry, lease, during } = setUp()
    const [a, b] = [lease('job-1', 'a'), lease('job-2', 'b')]
    await during(a.acquire())
    expect(await during(lease('job-1', 'c').acquire())).toBe(false)
    expect(await during(lease('job-1', 'c').acquire({ wait: 3_000 }))).toBe(false)
    const cancelled = new AbortController()
    const attempt = lease('job-1', 'c').acquire({ wait: 60_000, signal: cancelled.signal })
    attempt.catch(() => {})
    await during(Promise.resolve())
    cancelled.abort(new Error('enough'))
    await expect(during(attempt)).rejects.toThrow('enough')
    store.inject({ kind: 'hang' }, 'acquire')
    await expect(during(b.acquire())).rejects.toThrow()
    const calls = await telemetry.series('leasehold.acquire.duration')
    const outcomes = Object.fromEntries(calls.map(({ outcome, value }) => [outcome, value]))
    expect(outcomes).toEqual({ granted: 1, held: 1, timeout: 1, cancelled: 1, unknown: 1 })
    expect(calls.find(({ outcome }) => outcome === 'unknown')).toMatchObject({ 'error.type': 'LeaseTimeoutError' })
    expect(calls.find(({ outcome }) => outcome === 'timeout')?.sum).toBeCloseTo(3, 0)
  })

  it('counts callers that wait, and measures the hand-over', async () => {
    const { clock, telemetry, lease, during } = setUp()
    const [a, b] = [lease('job-1', 'a'), lease('job-1', 'b')]
    await during(a.acquire())
    const waiting = b.acquire({ wait: 60_000 })
    await clock.advance(1_000)
    expect(await telemetry.series('leasehold.lease.waiting')).toEqual([{ ...group, value: 1 }])
    await during(a.release())
    expect(await during(waiting)).toBe(true)
    expect(await telemetry.series('leasehold.lease.waiting')).toEqual([{ ...group, value: 0 }])
    expect(await telemetry.series('leasehold.handover.duration')).toMatchObject([
      { ...group, kind: 'release', value: 1 },
    ])
  })

  it('measures the time without a holder after one that has crashed', async () => {
    const { clock, store, telemetry, lease, during } = setUp()
    await store.acquire({ name: 'job-1', owner: 'crashed', grantId: 'g', ttl: TTL }, undefined as never)
    await clock.advance(2_000)
    expect(await during(lease('job-1', 'b').acquire({ wait: 60_000 }))).toBe(true)
    const [expiry] = await telemetry.series('leasehold.handover.duration')
    expect(expiry).toMatchObject({ ...group, kind: 'expiry', value: 1 })
    expect(expiry?.sum).toBeLessThan(TTL / 1_000)
  })

  it('shows a hand-off, at both sides', async () => {
    const { telemetry, lease, during } = setUp()
    const [a, b] = [lease('job-1', 'a'), lease('job-1', 'b')]
    await during(a.acquire())
    const handOff = await during(a.handOff({ owner: 'b' }))
    expect(await during(b.adopt(handOff))).toBe(true)
    expect(await telemetry.series('leasehold.hold.duration')).toMatchObject([{ ...group, end: 'handed-off', value: 1 }])
    expect(await telemetry.series('leasehold.handover.duration')).toEqual([
      { ...group, kind: 'hand-off', value: 1, sum: 0 },
    ])
    const sides = telemetry.spans().filter(({ name }) => name === 'hand-off job-*')
    expect(sides.map(({ attributes }) => attributes['lease.owner'])).toEqual(['a', 'b'])
  })

  it('counts a jeopardy that it recovers from, and one that it does not', async () => {
    const { clock, store, telemetry, lease, during } = setUp()
    const job = lease('job-1', 'a')
    await during(job.acquire())
    store.inject({ kind: 'fail-before' }, 'renew')
    store.inject({ kind: 'fail-before' }, 'renewMany')
    await clock.advance(6_000)
    expect(await telemetry.series('leasehold.jeopardy')).toEqual([{ ...group, outcome: 'recovered', value: 1 }])
    for (let count = 0; count < 100; count += 1) {
      store.inject({ kind: 'fail-before' }, 'renew')
      store.inject({ kind: 'fail-before' }, 'renewMany')
    }
    await clock.advance(TTL)
    expect(await telemetry.series('leasehold.jeopardy')).toMatchObject([
      { outcome: 'recovered', value: 1 },
      { outcome: 'lost', value: 1 },
    ])
    expect(await telemetry.series('leasehold.lost')).toEqual([{ ...group, reason: 'expired', value: 1 }])
    const [hold] = await telemetry.series('leasehold.hold.duration')
    expect(hold).toMatchObject({ ...group, end: 'lost', reason: 'expired', value: 1 })
    const { events, status } = telemetry.span('term job-*')
    expect(events.map(({ name }) => name)).toEqual(['jeopardy', 'recovered', 'jeopardy', 'lost'])
    expect(status.message).toBe('lost: expired')
  })

  it('counts a loss by its reason', async () => {
    const { clock, store, telemetry, lease, during } = setUp()
    await during(lease('job-1', 'a').acquire())
    await during(breakLease(store, 'job-1', { period: 0, clock }))
    await clock.advance(TTL)
    expect(await telemetry.series('leasehold.lost')).toEqual([{ ...group, reason: 'broken', value: 1 }])
    expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 0 }])
  })

  it('counts the writes of a stale holder, and the stalls of the event loop', async () => {
    const { clock, telemetry, lease, during } = setUp()
    const guard = new MemoryGuard()
    guard.write('ledger', 2n, 'new')
    expect(() => guard.write('ledger', 1n, 'old')).toThrow()
    expect(await telemetry.series('leasehold.guard.rejected')).toMatchObject([{ guard: 'memory', value: 1 }])
    await during(lease('job-1', 'a').acquire())
    await clock.advance(3_000)
    clock.block(4_000)
    await clock.advance(1)
    const [stall] = await telemetry.series('leasehold.event_loop.stall')
    expect(stall?.sum).toBeGreaterThan(1)
  })
})

describe('the link from a term to the one before it', () => {
  const spanIdIn = (record: { readonly metadata?: Metadata | undefined } | undefined) =>
    record?.metadata?.traceparent?.split('-')[2]

  it('lies in the metadata, beside those of the holder, and takes one write', async () => {
    const { telemetry, lease, during } = setUp({ linkTerms: true })
    const [a, b] = [lease('job-1', 'a'), lease('job-1', 'b')]
    await during(a.acquire({ metadata: { port: '80' } }))
    await during(a.renew())
    expect((await during(a.holder()))?.metadata).toEqual({ port: '80', traceparent: expect.any(String) })
    await during(a.release())
    await during(b.acquire())
    await during(b.release())
    const [before, after] = telemetry.spans().filter(({ name }) => name === 'term job-*')
    expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId])
    const operations = await telemetry.series('leasehold.store.operation.duration')
    expect(operations.find(({ operation }) => operation === 'update')).toMatchObject({ value: 2 })
  })

  it('keeps the metadata of a lease that was handed off', async () => {
    const { telemetry, lease, during } = setUp({ linkTerms: true })
    const [a, b] = [lease('job-1', 'a'), lease('job-1', 'b')]
    await during(a.acquire({ metadata: { port: '80' } }))
    await during(a.renew())
    expect(await during(b.adopt(await during(a.handOff({ owner: 'b' }))))).toBe(true)
    await during(b.renew())
    const record = await during(b.holder())
    expect(record?.metadata).toEqual({ port: '80', traceparent: expect.any(String) })
    await during(b.release())
    const [before, after] = telemetry.spans().filter(({ name }) => name === 'term job-*')
    expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId])
    expect(spanIdIn(record)).toBe(after?.spanContext().spanId)
    // Acquired in the usual way again, its record has no metadata of another term.
    await during(b.acquire())
    await during(b.renew())
    expect((await during(b.holder()))?.metadata).toEqual({ traceparent: expect.any(String) })
  })

  it('comes before an update of the holder, which replaces it', async () => {
    const { lease, during } = setUp({ linkTerms: true })
    const job = lease('job-1', 'a')
    const written = job.acquire().then(() => job.update({ page: '7' }))
    expect(await during(written)).toBe(true)
    expect((await during(job.holder()))?.metadata).toEqual({ page: '7' })
  })

  it('leads from term to term of an election, and is not written where a recipe keeps data of its own', async () => {
    const { clock, store, telemetry, options, during } = setUp({ linkTerms: true })
    for (const owner of ['a', 'b']) {
      const election = new LeaderElection(store, { ...options, owner, name: 'controller', onElected: untilAborted })
      election.start()
      await clock.advance(3_000)
      expect(election.isLeader).toBe(true)
      await during(election.stop())
    }
    const [before, after] = telemetry.spans().filter(({ name }) => name === 'term controller')
    expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId])
    const now = () => new Date(clock.wall())
    const schedule = new Schedule(store, { ...options, name: 'report', every: 60_000, now, work: () => {} })
    schedule.start()
    await clock.advance(150_000)
    await during(schedule.stop())
    expect((await during(readLease(store, 'report', { clock })))?.metadata).not.toHaveProperty('traceparent')
  })
})

describe('a recipe', () => {
  it('shows its leader, also under the name of client-go, and names itself at its leases', async () => {
    const { clock, store, telemetry, options, during } = setUp({ leaderElectionMasterStatus: true })
    const election = new LeaderElection(store, { ...options, name: 'controller-2', onElected: untilAborted })
    election.start()
    await clock.advance(100)
    expect(await telemetry.series('leasehold.leader')).toEqual([{ election: 'controller-*', value: 1 }])
    expect(await telemetry.series('leader_election_master_status')).toEqual([{ name: 'controller-2', value: 1 }])
    expect(await telemetry.series('leasehold.lease.held')).toEqual([
      { store: 'memory', 'lease.group': 'controller-*', recipe: 'leader-election', value: 1 },
    ])
    await during(election.stop())
    expect(await telemetry.series('leasehold.leader')).toEqual([{ election: 'controller-*', value: 0 }])
    expect(await telemetry.series('leader_election_master_status')).toEqual([{ name: 'controller-2', value: 0 }])
  })

  it('counts the ticks of a schedule, and how late they began', async () => {
    const { clock, store, telemetry, options, during } = setUp()
    const work = [async () => {}, async () => Promise.reject(new Error('failed'))]
    const now = () => new Date(clock.wall())
    const schedule = new Schedule(store, {
      ...options,
      name: 'report',
      every: 60_000,
      now,
      work: () => work.shift()?.(),
    })
    schedule.on('error', () => {})
    schedule.start()
    await clock.advance(150_000)
    await during(schedule.stop())
    const runs = await telemetry.series('leasehold.schedule.runs')
    expect(Object.fromEntries(runs.map(({ outcome, value }) => [outcome, value]))).toMatchObject({ done: 1, failed: 1 })
    expect(runs.every(({ schedule: name }) => name === 'report')).toBe(true)
    const [lag] = await telemetry.series('leasehold.schedule.lag')
    expect(lag).toMatchObject({ schedule: 'report', value: 2 })
  })

  it('shows the permits of a semaphore', async () => {
    const { store, telemetry, options, during } = setUp()
    const semaphore = new Semaphore(store, { ...options, name: 'uploads', permits: 3 })
    const permit = await during(semaphore.acquire())
    const states = async () => {
      const series = await telemetry.series('leasehold.permits')
      expect(series.every(({ semaphore: name }) => name === 'uploads')).toBe(true)
      return Object.fromEntries(series.map(({ state, value }) => [state, value]))
    }
    expect(await states()).toEqual({ held: 1, total: 3 })
    await during(Promise.resolve(permit?.release()))
    expect(await states()).toEqual({ held: 0, total: 3 })
    await during(semaphore.stop())
  })

  it('shows the partitions of a group', async () => {
    const { clock, store, telemetry, options, during } = setUp()
    const partitions = new PartitionGroup(store, {
      ...options,
      name: 'topic',
      partitions: 4,
      rebalanceInterval: 500,
      onAssigned: () => {},
    })
    partitions.start()
    await clock.advance(10_000)
    const states = async () => {
      const series = await telemetry.series('leasehold.partitions')
      expect(series.every(({ group: name }) => name === 'topic')).toBe(true)
      return Object.fromEntries(series.map(({ state, value }) => [state, value]))
    }
    expect(await states()).toEqual({ wanted: 4, held: 4, unowned: 0 })
    await during(partitions.stop())
    expect(await states()).toMatchObject({ held: 0 })
  })
})

it('10,000 names make a few series', async () => {
  const { telemetry, lease, during } = setUp()
  for (let index = 0; index < 10_000; index += 1) {
    const job = lease(`tenant-${index}/import`, 'a')
    await job.acquire()
    await job.release()
  }
  await during(Promise.resolve())
  const series = [...(await telemetry.metrics()).values()].map(({ dataPoints }) => dataPoints.length)
  expect(Math.max(...series)).toBeLessThan(10)
})
