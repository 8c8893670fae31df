import {
  breakLease,
  createLease,
  LeaseConfigurationError,
  LeaseNameError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { Schedule, type ScheduleOptions, type Tick } from '@leasehold/recipes'
import { FaultyStore } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Fleet, HOUR, MINUTE, withoutMetadata } from './fleet.js'

describe('a schedule', () => {
  it.each<[string, Partial<ScheduleOptions>, string]>([
    ['no work', { work: undefined as never }, 'work must be a function, such as async (held) => …, not undefined'],
    ['an unknown option', { timezone: 'UTC' } as object, "no option 'timezone': did you mean 'timeZone'?"],
    ['maxHold', { maxHold: 5 } as object, "no option 'maxHold'"],
    ['atMostFor 0', { atMostFor: 0 }, 'atMostFor must be a positive number of milliseconds, or Infinity, not 0'],
    ['atLeastFor Infinity', { atLeastFor: Number.POSITIVE_INFINITY }, 'atLeastFor must be 0 or more milliseconds'],
    [
      'atMostFor NaN',
      { atMostFor: Number.NaN },
      'atMostFor must be a positive number of milliseconds, or Infinity, not NaN',
    ],
    ['atMostFor -1', { atMostFor: -1 }, 'atMostFor must be a positive number of milliseconds, or Infinity, not -1'],
    [
      'a text for atMostFor',
      { atMostFor: '5s' as never },
      'atMostFor must be a positive number of milliseconds, or Infinity, not 5s',
    ],
    ['atLeastFor NaN', { atLeastFor: Number.NaN }, 'atLeastFor must be 0 or more milliseconds, and finite, not NaN'],
    ['atLeastFor -1', { atLeastFor: -1 }, 'atLeastFor must be 0 or more milliseconds, and finite, not -1'],
    [
      'a text for atLeastFor',
      { atLeastFor: '5s' as never },
      'atLeastFor must be 0 or more milliseconds, and finite, not 5s',
    ],
    [
      'atLeastFor over atMostFor',
      { every: 10, atLeastFor: 4, atMostFor: 3 },
      'atLeastFor, 4 ms, must not be longer than atMostFor, 3 ms',
    ],
    ['atLeastFor up to every', { atLeastFor: 5 }, 'atLeastFor, 5 ms, must be shorter than every, 5 ms'],
    ['another policy', { missed: 'all' as 'skip' }, 'missed must be skip or run-once, not all'],
    ['an invalid duration', { heartbeatTimeout: -1 }, 'heartbeatTimeout'],
    ['an invalid expression', { every: undefined, cron: '99 * * * *' }, "cron '99 * * * *' is not a cron expression"],
  ])('rejects %s when it is built', (_, options, message) => {
    const given = { name: 'report', every: 5, work: () => undefined, ...options }
    expect(() => new Schedule(new MemoryLeaseStore(), given)).toThrow(LeaseConfigurationError)
    expect(() => new Schedule(new MemoryLeaseStore(), given)).toThrow(message)
  })

  it('rejects a name that is no lease name', () => {
    const options = { name: '', every: 5, work: () => undefined }
    expect(() => new Schedule(new MemoryLeaseStore(), options)).toThrow(LeaseNameError)
  })

  it('rejects a store without metadata, unless atLeastFor makes up for it and missed ticks are skipped', () => {
    const store = withoutMetadata(new Fleet().server)
    const options = { name: 'report', every: 5, work: () => undefined }
    expect(() => new Schedule(store, options)).toThrow('keeps no metadata: set atLeastFor to more than the clocks')
    expect(() => new Schedule(store, { ...options, atLeastFor: 4, missed: 'run-once' })).toThrow(
      'missed ticks are not known',
    )
    expect(new Schedule(store, { ...options, atLeastFor: 4 })).toBeInstanceOf(Schedule)
  })

  it('rejects an owner that leaves no room for its runs', () => {
    const store = Object.assign(new FaultyStore(new MemoryLeaseStore()), { limits: { ...limits, metadata: 1_024 } })
    const options = { name: 'report', every: 5, work: () => undefined, owner: 'o'.repeat(500) }
    expect(() => new Schedule(store, options)).toThrow('use a shorter owner')
  })

  it('runs 18 ticks in three hours on three instances whose clocks are an hour apart, each once', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    for (const skew of [0, -HOUR, HOUR]) fleet.start(store, {}, skew)
    // The first tick of the right clock; then the fast one is ahead.
    await fleet.time.advance(3 * HOUR + MINUTE)
    const minutes = [...fleet.minutes].sort((one, other) => one - other)
    expect(new Set(minutes).size).toBe(minutes.length)
    expect(minutes.filter((minute) => minute > 60)).toEqual(Array.from({ length: 18 }, (_, tick) => 70 + 10 * tick))
    expect(fleet.errors).toEqual([])
  })

  it.each([60_000 / 7, 333.3])('runs each tick once on three instances where every is %d ms', async (every) => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    for (const owner of ['anna', 'berta', 'carla']) fleet.start(store, { every, owner })
    await fleet.time.advance(20 * every)
    expect(fleet.minutes.length).toBeGreaterThan(15)
    expect(new Set(fleet.minutes).size).toBe(fleet.minutes.length)
    expect(fleet.errors).toEqual([])
  })

  it('goes on with the slower clocks when the fast one is gone, without a tick twice', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const { schedule } = fleet.start(store, {}, HOUR)
    await fleet.time.advance(25 * MINUTE)
    expect(fleet.minutes).toEqual([70, 80])
    await schedule.stop()
    fleet.start(store, {}, 0)
    await fleet.time.advance(60 * MINUTE)
    expect(fleet.minutes).toEqual([70, 80])
    await fleet.time.advance(10 * MINUTE)
    expect(fleet.minutes).toEqual([70, 80, 90])
  })

  it('runs no tick again after its own clock was set back, and goes on when the time has come', async () => {
    const fleet = new Fleet()
    const { machine } = fleet.start(new MemoryLeaseStore({ clock: fleet.server }))
    await fleet.time.advance(31 * MINUTE)
    machine.stepWall(-20 * MINUTE)
    await fleet.time.advance(21 * MINUTE)
    expect(fleet.minutes).toEqual([10, 20, 30])
    await fleet.time.advance(10 * MINUTE)
    expect(fleet.minutes).toEqual([10, 20, 30, 40])
  })

  it('notices within half a minute that its clock was set forward, and skips what it missed', async () => {
    const fleet = new Fleet()
    const { machine } = fleet.start(new MemoryLeaseStore({ clock: fleet.server }), { every: HOUR })
    await fleet.time.advance(MINUTE)
    machine.stepWall(59 * MINUTE - 5_000)
    await fleet.time.advance(10_000)
    machine.stepWall(-20_000)
    await fleet.time.advance(MINUTE)
    expect(fleet.minutes).toEqual([60])
    machine.stepWall(90 * MINUTE)
    await fleet.time.advance(MINUTE)
    expect(fleet.minutes).toEqual([60])
    await fleet.time.advance(30 * MINUTE)
    expect(fleet.minutes).toEqual([60, 180])
  })

  it('follows a cron expression across the change to daylight saving', async () => {
    const fleet = new Fleet()
    const skew = Date.UTC(2026, 2, 27) - Date.UTC(2026, 0, 1)
    const store = new MemoryLeaseStore({ clock: fleet.server })
    fleet.start(store, { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }, skew)
    await fleet.time.advance(96 * HOUR)
    const times = fleet.minutes.map((minute) =>
      new Date(Date.UTC(2026, 0, 1) + minute * MINUTE).toISOString().slice(5, 16),
    )
    expect(times).toEqual(['03-27T01:30', '03-28T01:30', '03-29T01:00', '03-30T00:30'])
  })

  it('records the tick before its work starts', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    let recorded: unknown
    const work = async () => {
      recorded = (await readLease(store, 'report'))?.metadata
    }
    fleet.start(store, { work, owner: 'anna' })
    await fleet.time.advance(11 * MINUTE)
    const run = {
      due: '2026-01-01T00:10:00.000Z',
      owner: 'anna',
      startedAt: '2026-01-01T00:10:00.000Z',
      outcome: 'running',
    }
    const plan = 'every 600000 ms from 1970-01-01T00:00:00.000Z'
    expect(recorded).toEqual({ recipe: 'schedule', tick: run.due, run: JSON.stringify(run), plan })
  })

  it('keeps the name for atLeastFor, so that instances without a record run no tick twice', async () => {
    const fleet = new Fleet()
    const store = withoutMetadata(fleet.server)
    for (const skew of [0, -4 * MINUTE, 3 * MINUTE]) fleet.start(store, { atLeastFor: 8 * MINUTE }, skew)
    await fleet.time.advance(57 * MINUTE)
    expect(fleet.minutes).toEqual([0, 10, 20, 30, 40, 50])
    const { schedule } = fleet.start(store, { atLeastFor: 8 * MINUTE })
    expect(await schedule.read()).toMatchObject({ running: undefined, last: undefined })
  })

  it('frees the name at once after stop where the record knows the tick, and after atLeastFor where none does', async () => {
    for (const [keeps, name] of [
      [true, 'metadata'],
      [false, 'none'],
    ] as const) {
      const fleet = new Fleet()
      const store = keeps ? new MemoryLeaseStore({ clock: fleet.server }) : withoutMetadata(fleet.server)
      const { schedule } = fleet.start(store, { atLeastFor: 5 * MINUTE })
      await fleet.time.advance(11 * MINUTE)
      let isStopped = false
      void schedule.stop().then(() => {
        isStopped = true
      })
      // Before any time limit of the stop.
      await fleet.time.advance(100)
      expect(isStopped, name).toBe(keeps)
      expect((await readLease(store, 'report', { clock: fleet.server }))?.state === 'leased', name).toBe(!keeps)
      await fleet.time.advance(5 * MINUTE)
      expect(isStopped, name).toBe(true)
    }
  })

  it('reports a work that fails, cuts its error to fit, and runs the next tick', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const work = () => {
      throw new Error('€'.repeat(1_000))
    }
    const { schedule } = fleet.start(store, { work })
    await fleet.time.advance(21 * MINUTE)
    expect(fleet.minutes).toEqual([10, 20])
    expect(fleet.errors[0]).toMatch(
      /^schedule 'report': the work of the tick 2026-01-01T00:10:00.000Z failed: Error: €/,
    )
    expect((await schedule.read()).last).toMatchObject({ outcome: 'failed', error: '€'.repeat(200) })
    const small = Object.assign(new FaultyStore(store), { limits: { ...store.limits, metadata: 600 } })
    await schedule.stop()
    const other = fleet.start(small, { work })
    await fleet.time.advance(10 * MINUTE)
    const { last } = await other.schedule.read()
    expect(last).toMatchObject({ due: '2026-01-01T00:30:00.000Z', outcome: 'failed' })
    expect(last).not.toHaveProperty('error')
  })

  it('tries again while the store does not answer, and runs the tick when it does', async () => {
    const fleet = new Fleet()
    let isDown = true
    const plan = () => (isDown ? ({ kind: 'hang' } as const) : undefined)
    const store = new FaultyStore(new MemoryLeaseStore({ clock: fleet.server }), { clock: fleet.server, plan })
    fleet.start(store)
    await fleet.time.advance(15 * MINUTE)
    expect(fleet.minutes).toEqual([])
    expect(fleet.errors[0]).toContain('the record of pauses and requests could not be read, and is tried again')
    // Five minutes without an answer.
    expect(fleet.errors.length).toBeLessThan(8)
    isDown = false
    await fleet.time.advance(MINUTE)
    expect(fleet.minutes).toEqual([10])
    expect(fleet.errors.at(-1)).toContain('the store has answered again')
  })

  it('stops within a time limit while the store does not answer', async () => {
    const fleet = new Fleet()
    let isDown = false
    const plan = () => (isDown ? ({ kind: 'hang' } as const) : undefined)
    const store = new FaultyStore(new MemoryLeaseStore({ clock: fleet.server }), { clock: fleet.server, plan })
    const { schedule } = fleet.start(store, { work: () => new Promise(() => {}) })
    await fleet.time.advance(10 * MINUTE)
    isDown = true
    let isStopped = false
    void schedule.stop().then(() => {
      isStopped = true
    })
    await fleet.time.advance(MINUTE)
    expect(isStopped).toBe(true)
  })

  it('never records an earlier tick over a later one, though the earlier work outlives its grant', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    fleet.start(store, { every: MINUTE / 10, operationTimeout: MINUTE / 6, work: () => new Promise(() => {}) })
    await fleet.time.advance(MINUTE / 10)
    await breakLease(store, 'report', { clock: fleet.server, period: 0 })
    const ticks: string[] = []
    for (let second = 0; second < 30; second += 1) {
      await fleet.time.advance(1_000)
      ticks.push((await readLease(store, 'report', { clock: fleet.server }))?.metadata?.tick ?? '')
    }
    expect(new Set(ticks).size).toBeGreaterThan(1)
    expect(ticks).toEqual(ticks.toSorted())
  })

  it('starts once, and not again after a stop', async () => {
    const fleet = new Fleet()
    const { schedule } = fleet.start(new MemoryLeaseStore({ clock: fleet.server }))
    schedule.start()
    await fleet.time.advance(11 * MINUTE)
    expect(fleet.minutes).toEqual([10])
    await schedule.stop()
    expect(() => schedule.start()).toThrow(LeaseUnavailableError)
    await fleet.time.advance(HOUR)
    expect(fleet.minutes).toEqual([10])
  })

  it('ignores metadata that other programs have left', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const lease = createLease(store, 'report', { clock: fleet.server })
    await lease.acquire({ metadata: { tick: 'soon', run: '{', last: '5' } })
    await lease.release()
    const { schedule } = fleet.start(store)
    expect(await schedule.read()).toEqual({
      next: new Date('2026-01-01T00:10:00Z'),
      running: undefined,
      last: undefined,
      paused: undefined,
      skipped: [],
      requested: [],
      plan: undefined,
    })
    await fleet.time.advance(11 * MINUTE)
    expect(fleet.minutes).toEqual([10])
  })

  it.each([
    ['none', { due: 5 }],
    ['none', { startedAt: 'soon' }],
    ['none', { owner: null }],
    ['none', { outcome: 'constructor' }],
    ['one without these', { endedAt: 'late', error: 5, byHand: 'x', other: 1 }],
    ['this one', { endedAt: '2026-01-01T00:11:00.000Z', error: 'no paper' }],
  ])('reads as %s a run of another program with %j', async (kind, fields) => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const lease = createLease(store, 'report', { clock: fleet.server })
    const at = '2026-01-01T00:10:00.000Z'
    const run = { due: at, owner: 'old', startedAt: at, outcome: 'done' }
    const written = { ...run, ...fields }
    await lease.acquire({ metadata: { recipe: 'schedule', run: JSON.stringify(written) } })
    await lease.release()
    const { last } = await fleet.start(store).schedule.read()
    expect(last).toEqual({ none: undefined, 'one without these': run, 'this one': written }[kind])
  })

  it('goes on with the clock of the machine while now() fails', async () => {
    const fleet = new Fleet()
    const store = new MemoryLeaseStore({ clock: fleet.server })
    const { schedule } = fleet.start(store, { now: () => new Date(Number.NaN) })
    expect((await schedule.read()).next).toBeInstanceOf(Date)
    expect(fleet.errors[0]).toContain('now() returned an invalid date')
  })

  it('gives the work a token that grows, and the tick that it is for', async () => {
    const fleet = new Fleet()
    const ticks: Tick[] = []
    fleet.start(new MemoryLeaseStore({ clock: fleet.server }), { work: (tick) => void ticks.push(tick) })
    await fleet.time.advance(21 * MINUTE)
    const [first, second] = ticks
    expect([first?.due, second?.due]).toEqual([new Date('2026-01-01T00:10:00Z'), new Date('2026-01-01T00:20:00Z')])
    expect(second?.fencingToken).toBeGreaterThan(first?.fencingToken ?? 0n)
  })
})

const { limits } = new MemoryLeaseStore()
