import { type Clock, createLease, LeaseConfigurationError, MemoryLeaseStore, readLease } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { Schedule, type ScheduleOptions, type Tick } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { TickRunner } from '../../src/schedule/tick-runner.js'
import { Fleet, HOUR, MINUTE } from './fleet.js'

const hang = () => new Promise(() => {})

describe('a schedule whose user code fails', () => {
  const failing = (): never => {
    throw new Error('no')
  }

  it.each<[string, () => number]>([
    ['throws', failing],
    ['returns no number', () => 'x' as never],
    ['returns a number that is too large', () => 1e300],
    ['returns a promise that rejects', (async () => failing()) as never],
  ])('goes on where random() %s', async (_, random) => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    // Another owner holds the name, so that the pause before the next look is drawn.
    const other = createLease(store, 'report', { clock: fleet.server, owner: 'other' })
    await other.acquire()
    fleet.start(store, { random })
    await fleet.time.advance(11 * MINUTE)
    expect(fleet.minutes).toEqual([])
    await other.release()
    await fleet.time.advance(10 * MINUTE)
    expect(fleet.minutes).toEqual([10, 20])
    expect(fleet.errors.join('\n')).toContain("schedule 'report': random() failed")
  })

  it.each<[string, () => Date]>([
    ['throws', failing],
    ['returns undefined', () => undefined as never],
    ['returns no date', () => ({ getTime: () => '5' }) as never],
    ['returns an instant that no date has', () => ({ getTime: () => 1e300 }) as never],
    ['returns a promise that rejects', (async () => failing()) as never],
  ])('goes on where now() %s', async (_, fail) => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    // While now() fails, the time is that of the machine.
    const start = wallTime()
    const anchor = new Date(start)
    const dues: number[] = []
    const work = ({ due }: Tick) => void dues.push((due.getTime() - start) / MINUTE)
    let isFailing = false
    fleet.start(store, { work, anchor, now: () => (isFailing ? fail() : new Date(start + fleet.server.now())) })
    await fleet.time.advance(11 * MINUTE)
    isFailing = true
    await fleet.time.advance(40_000)
    isFailing = false
    await fleet.time.advance(20 * MINUTE)
    expect(fleet.errors.some((error) => /now\(\) (failed|returned an invalid date)/.test(error))).toBe(true)
    expect(dues).toEqual([10, 20, 30])
  })

  it('goes on after a wall clock without a later tick was set right', async () => {
    const fleet = new Fleet()
    let isAhead = true
    const now = () => new Date(isAhead ? 8.64e15 : fleet.server.wall())
    const anchor = '1970-01-01T00:05:00Z'
    const options = { every: 10 * MINUTE, anchor, name: 'report', logger: silentLogger }
    expect(() => new Schedule(new MemoryLeaseStore(), { ...options, now, work: () => undefined })).toThrow('no tick')
    isAhead = false
    fleet.start(new MemoryLeaseStore({ clock: fleet.server }), { now, anchor })
    await fleet.time.advance(MINUTE)
    isAhead = true
    await fleet.time.advance(40_000)
    isAhead = false
    await fleet.time.advance(10 * MINUTE)
    expect(fleet.minutes).toEqual([5])
  })

  it('goes on where the clock schedules nothing', async () => {
    const fleet = new Fleet()
    let isFailing = false
    const clock: Clock = {
      now: () => fleet.server.now(),
      schedule: (delay, task) => (isFailing ? failing() : fleet.server.schedule(delay, task)),
    }
    fleet.start(new MemoryLeaseStore({ clock: fleet.server }), { clock, every: MINUTE / 60 })
    await fleet.time.advance(5_500)
    isFailing = true
    await fleet.time.advance(1_000)
    isFailing = false
    expect(fleet.errors.some((error) => error.includes('the clock failed'))).toBe(true)
    const before = fleet.ticks.length
    // Its sleep has a timer of the machine now.
    await expect.poll(() => fleet.time.advance(1_000).then(() => fleet.ticks.length)).toBeGreaterThan(before)
  })

  it.each<[string, unknown, string]>([
    ['a value without a text', Object.create(null), 'an object without a text was thrown'],
    ['undefined', undefined, 'rejected without an error'],
    ['an error without a text', Object.assign(new Error(), { message: 5 }), '5'],
    [
      'an error that cannot be read',
      Object.defineProperty(new Error(), 'message', { get: failing }),
      'an object without a text was thrown',
    ],
  ])('records a run as failed whose work throws %s', async (_, thrown, error) => {
    const fleet = new Fleet()
    const work = () => {
      throw thrown
    }
    const { schedule } = fleet.start(new MemoryLeaseStore({ clock: fleet.server }), { work })
    await fleet.time.advance(21 * MINUTE)
    expect(fleet.minutes).toEqual([10, 20])
    expect((await schedule.read()).last).toMatchObject({ outcome: 'failed', error })
  })

  it.each([Number.NaN, -1, '5s'])('rejects a stop with a wait of %s, and stops with another', async (wait) => {
    const fleet = new Fleet()
    const { schedule } = fleet.start(new MemoryLeaseStore({ clock: fleet.server }))
    await expect(schedule.stop({ timeout: wait as number })).rejects.toThrow(LeaseConfigurationError)
    await expect(schedule.stop({ timeout: wait as number })).rejects.toThrow('timeout must be 0 or more milliseconds')
    await expect(schedule.stop({ timeuot: 5 } as object)).rejects.toThrow("stop has no option 'timeuot'")
    await fleet.time.advance(11 * MINUTE)
    expect(fleet.minutes).toEqual([10])
    await schedule.stop({ timeout: Number.POSITIVE_INFINITY })
    await fleet.time.advance(HOUR)
    expect(fleet.minutes).toEqual([10])
  })
})

describe('the tick after a death', () => {
  it('is run by another instance when the lease of the dead one has expired', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    let isDead = false
    const plan = () => (isDead ? ({ kind: 'hang' } as const) : undefined)
    fleet.start(new FaultyStore(store, { clock: fleet.server, plan }), { owner: 'dying', work: hang })
    await fleet.time.advance(11 * MINUTE)
    fleet.start(store, { owner: 'heir' })
    await fleet.time.advance(8 * MINUTE)
    isDead = true
    // The lease expires two minutes later, and the tick of minute 20 is due before.
    await fleet.time.advance(4 * MINUTE)
    expect(fleet.ticks).toEqual([
      { minute: 10, owner: 'dying' },
      { minute: 20, owner: 'heir' },
    ])
  })

  it('is not run after a later one that was recorded since the last look', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const found = createLease(store, 'report', { clock })
    const later = Date.UTC(2026, 0, 1, 12)
    await found.acquire({ metadata: { tick: new Date(later).toISOString() } })
    await found.release()
    const runs: Date[] = []
    const ignoring = { report: () => {}, isWanted: async () => true, onStarted: () => {}, onEnded: () => {} }
    const options = { name: 'report', every: MINUTE, work: ({ due }) => void runs.push(due) } satisfies ScheduleOptions
    const around = { clock, wall: () => clock.wall(), room: 4_096, plan: 'every minute', ...ignoring }
    const runner = new TickRunner(createLease(store, 'report', { clock }), options, around)
    expect(await runner.run({ due: later - MINUTE })).toBe('decided')
    expect(await runner.run({ due: later })).toBe('decided')
    expect(await runner.run({ due: later + MINUTE })).toBe('ran')
    expect(runs).toEqual([new Date(later + MINUTE)])
  })
})

describe('two schedules of one name', () => {
  it('with different plans report that once, each as an event and in the log', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const lines: string[] = []
    const events: string[] = []
    const logger = { ...silentLogger, warn: (line: string) => void lines.push(line) }
    const often = fleet.start(store, { every: 10 * MINUTE, logger, owner: 'often' }).schedule
    const seldom = fleet.start(store, { every: undefined, cron: '5  * * * *', logger, owner: 'seldom' }).schedule
    const last = (plan: string) => void events.push(plan)
    seldom.on('differs', (plan) => void events.push(plan))
    often
      .on('differs', (plan) => void events.push(plan))
      .on('differs', last)
      .off('differs', last)
    await fleet.time.advance(4 * HOUR)
    const plans = ['every 600000 ms from 1970-01-01T00:00:00.000Z', 'cron 5 * * * * in UTC']
    expect(events.toSorted()).toEqual(plans.toSorted())
    expect(lines.toSorted()).toEqual(
      [
        `schedule 'report': another instance runs it with '${plans[1]}', and this one has '${plans[0]}'. If no deployment is ` +
          'under way, give one of the two schedules another name',
        `schedule 'report': another instance runs it with '${plans[0]}', and this one has '${plans[1]}'. If no deployment is ` +
          'under way, give one of the two schedules another name',
      ].toSorted(),
    )
  })

  it('of which one has written control characters into the record report them escaped', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const lines: string[] = []
    fleet.start(store, {
      every: 10 * MINUTE,
      logger: { ...silentLogger, warn: (line: string) => void lines.push(line) },
    })
    await fleet.time.advance(15 * MINUTE)
    const other = createLease(store, 'report', { clock: fleet.server, owner: 'other' })
    await other.acquire()
    const tick = new Date(fleet.server.wall() + MINUTE).toISOString()
    await other.release({ metadata: { recipe: 'schedule', tick, plan: 'every\u001b[2J minute' } })
    await fleet.time.advance(HOUR)
    expect(lines).toEqual([expect.stringContaining("runs it with 'every\\u{1b}[2J minute'")])
  })

  it('one after the other report nothing', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const events: string[] = []
    const before = fleet.start(store)
    await fleet.time.advance(25 * MINUTE)
    await before.schedule.stop()
    const after = fleet.start(store, { every: 7 * MINUTE })
    for (const { schedule } of [before, after]) schedule.on('differs', (plan) => void events.push(plan))
    await fleet.time.advance(3 * HOUR)
    expect(events).toEqual([])
  })

  it('keep the plan out of a record that has no room for it', async () => {
    const fleet = new Fleet()
    const memory = new MemoryLeaseStore({ clock: fleet.server })
    const store = Object.assign(new FaultyStore(memory), { limits: { ...memory.limits, metadata: 480 } })
    const [minutes, hours] = [60, 24].map((count) => Array.from({ length: count }, (_, number) => number).join(','))
    fleet.start(store, { every: undefined, cron: `0 ${minutes} ${hours} * * *`, owner: 'o'.repeat(60) })
    await fleet.time.advance(3 * MINUTE)
    expect(fleet.minutes).toEqual([1, 2, 3])
    expect((await readLease(memory, 'report'))?.metadata).not.toHaveProperty('plan')
  })
})
