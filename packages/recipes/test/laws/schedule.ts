import assert from 'node:assert/strict'
import { createLease } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { PendingWork } from '../../../testkit/src/laws/pending-work.js'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** One run of the work of a schedule, as its record keeps it. */
interface RecordedRun {
  readonly due: string
  readonly owner: string
  readonly outcome: string
  readonly error?: string
  readonly byHand?: { readonly id: string; readonly by: string }
}

/** The part of `Schedule` that its laws use. */
export interface ScheduleUnderLaw {
  start(): unknown
  stop(options?: { readonly timeout?: number }): Promise<void>
  read(): Promise<{
    readonly next: Date | undefined
    readonly running: RecordedRun | undefined
    readonly last: RecordedRun | undefined
    readonly paused: { readonly by: string; readonly reason: string } | undefined
  }>
  pause(options: { readonly reason: string }): Promise<void>
  resume(): Promise<boolean>
  runNow(): Promise<string>
  skip(tick: Date): Promise<void>
}

interface TickUnderLaw {
  readonly due: Date
  readonly byHand: { readonly id: string } | undefined
  readonly signal: AbortSignal
  readonly fencingToken: bigint
}

/** The options that the laws give to a schedule. Its name and its lease options are those of the place, and so is `now`. */
export interface ScheduleLawOptions {
  readonly every: number
  readonly work: (tick: TickUnderLaw) => unknown
  readonly missed?: 'skip' | 'run-once'
  readonly atMostFor?: number
  readonly atLeastFor?: number
}

type Trial = RecipeTrial<ScheduleUnderLaw, ScheduleLawOptions>

type Options = Partial<ScheduleLawOptions> & { readonly place?: RecipePlace }

/** The ticks of the trial that were run, in the order of their starts. */
class Runs {
  readonly ticks: {
    readonly due: number
    readonly owner: string
    readonly token: bigint
    readonly signal: AbortSignal
    /** The id of the request, if it was a run by hand. */
    readonly byHand: string | undefined
  }[] = []

  /** The ids of the runs by hand, in the order of their starts. */
  get byHand(): string[] {
    return this.ticks.flatMap(({ byHand }) => byHand ?? [])
  }

  /** Starts a schedule in a place of its own, whose work is counted and then does `work`. */
  async start(trial: Trial, { work = () => undefined, place: given, ...options }: Options = {}) {
    const place = given ?? (await trial.place())
    const { owner } = place.leaseOptions
    const counted: ScheduleLawOptions['work'] = (tick) => {
      const { due, fencingToken: token, signal, byHand } = tick
      this.ticks.push({ due: due.getTime(), owner, token, signal, byHand: byHand?.id })
      return work(tick)
    }
    const schedule = await trial.create({ every: trial.ttl / 2, ...options, work: counted }, place)
    trial.atEnd(() => schedule.stop())
    schedule.start()
    return { schedule, place }
  }

  /** Starts the first schedule, and lets time pass until its first tick is run. */
  async begin(trial: Trial, options: Options) {
    const instance = await this.start(trial, options)
    await trial.until('the first tick', () => this.ticks.length === 1)
    return instance
  }

  /** Each tick was run once, in order, under growing tokens, and none was left out. */
  check(every: number): void {
    for (const [place, { due, token }] of this.ticks.entries()) {
      const before = this.ticks[place - 1]
      if (before === undefined) continue
      assert.equal(due - before.due, every, `the ticks ${this.ticks.map(({ due }) => due).join()}`)
      assert(token > before.token)
    }
  }
}

/** The first tick, which one of two instances runs, takes longer than the next two take to become due. */
async function overrun(trial: Trial, runs: Runs, every: number, missed: 'skip' | 'run-once'): Promise<void> {
  const first = new PendingWork<unknown>()
  const work = (tick: unknown): unknown => (runs.ticks.length === 1 ? first.run(tick) : undefined)
  await runs.start(trial, { every, missed, work })
  await runs.begin(trial, { every, missed, work })
  await trial.pass(2.5 * every)
  first.only.end()
}

/** Longer than it takes every instance to see a change: pauses between two looks have some jitter. */
const seenAfter = ({ ttl }: Trial): number => ttl / 5

/** The laws get the runs of the trial, and a work that lasts. */
const lawsOf = recipeLawsWith(async (_: Trial) => [new Runs(), new PendingWork<unknown>()])

/** The laws of `Schedule`, over a store that keeps metadata. */
export const scheduleLaws = lawsOf(['metadata'], {
  'each tick is run once by one of several instances, and none is left out': async (trial, runs) => {
    for (let instance = 0; instance < 3; instance += 1) await runs.start(trial)
    await trial.until('five ticks', () => runs.ticks.length >= 5)
    runs.check(trial.ttl / 2)
  },

  'clocks that are an hour apart run no tick twice': async (trial, runs) => {
    for (const skew of [0, 3_600_000, -3_600_000]) await runs.start(trial, { place: await trial.place({ skew }) })
    await trial.until('six ticks', () => runs.ticks.length >= 6)
    // The fast clock may have overtaken the others after the first tick.
    runs.ticks.shift()
    runs.check(trial.ttl / 2)
  },

  'a tick whose holder dies in the middle is interrupted, not run again, and the next one is run': async (
    trial,
    runs,
    { run: work },
  ) => {
    const { place } = await runs.begin(trial, { work })
    const { schedule } = await runs.start(trial)
    place.cutOff()
    await trial.until('the next tick', () => runs.ticks.length >= 2)
    const [first, second] = runs.ticks
    assert.equal(first?.signal.aborted, true)
    assert.notEqual(second?.owner, first?.owner)
    assert(second !== undefined && first !== undefined && second.due > first.due)
    const lastOwner = async () => (await trial.during(schedule.read())).last?.owner
    // The run is recorded when its work has ended.
    for (let looks = 0; looks < 20 && (await lastOwner()) !== second.owner; looks += 1) await trial.pass(trial.ttl / 20)
    assert.equal(await lastOwner(), second.owner)
  },

  'the run of a holder that died is shown as interrupted': async (trial, runs, { run: work }) => {
    const { place } = await runs.begin(trial, { work })
    place.cutOff()
    const reader = await trial.create({ every: 600_000, work: () => undefined })
    const other = await trial.place()
    const lease = createLease(other.store, trial.name, other.leaseOptions)
    assert.equal(await trial.during(lease.acquire({ wait: 6 * trial.ttl })), true)
    await trial.during(lease.release())
    const { running, last } = await trial.during(reader.read())
    assert.deepEqual([running, last?.outcome], [undefined, 'interrupted'])
  },

  'a tick that its holder could not record is run by another instance': async (trial, runs) => {
    const every = 2 * trial.ttl + trial.longest
    const place = await trial.place()
    const { update } = place.store
    let isCut = false
    const cut = async (...args: Parameters<NonNullable<typeof update>>): Promise<unknown> => {
      isCut = true
      place.cutOff()
      return await update?.apply(place.store, args)
    }
    Object.assign(place.store, { update: cut })
    await runs.start(trial, { place, every })
    const other = await trial.place()
    // The first one is granted the lease.
    other.store.inject({ kind: 'delay', duration: trial.ttl / 10 }, 'acquire')
    await runs.start(trial, { place: other, every })
    await trial.until('a holder that cannot record', () => isCut)
    assert.equal(runs.ticks.length, 0)
    // Before the next tick.
    await trial.until('the other one runs the tick', () => runs.ticks.length === 1, 1.5 * trial.ttl + trial.longest)
    assert.equal(runs.ticks[0]?.owner, other.leaseOptions.owner)
  },

  'an instance that is granted the name after the tick was run does not run it again': async (trial, runs) => {
    const every = 2 * trial.ttl
    // Both read the record before the tick is recorded; the second one is granted the name when the first has released it.
    for (const part of [100, 25]) {
      const place = await trial.place()
      place.store.inject({ kind: 'delay', duration: trial.ttl / part }, 'acquire')
      await runs.start(trial, { place, every })
    }
    await trial.until('the tick', () => runs.ticks.length > 0)
    await trial.pass(trial.ttl)
    assert.equal(runs.ticks.length, 1)
  },

  'ticks that a work overruns are skipped, and do not pile up': async (trial, runs) => {
    const every = trial.ttl / 2
    await overrun(trial, runs, every, 'skip')
    await trial.until('three ticks', () => runs.ticks.length >= 3)
    const [first, second, third] = runs.ticks.map(({ due }) => due)
    assert(first !== undefined && second !== undefined && third !== undefined)
    // Two were overrun; a busy machine may take its time for more.
    assert(second - first >= 3 * every, `${second - first}`)
    assert.equal(third - second, every)
  },

  'with run-once, the latest tick that a work overran is run late, and only that': async (trial, runs) => {
    const every = trial.ttl / 2
    await overrun(trial, runs, every, 'run-once')
    await trial.until('the late tick', () => runs.ticks.length >= 2, every)
    const [first, second] = runs.ticks.map(({ due }) => due)
    assert(first !== undefined && second !== undefined && second - first >= 2 * every)
  },

  'after a time without instances, missed ticks are skipped': async (trial, runs) => {
    const every = 2 * trial.ttl
    const { schedule } = await runs.begin(trial, { every })
    await trial.during(schedule.stop())
    await trial.pass(1.2 * every)
    const place = await trial.place()
    await runs.start(trial, { every, place })
    await trial.until('the next tick', () => runs.ticks.length === 2)
    const [first, second] = runs.ticks.map(({ due }) => due)
    assert.equal(Number(second) - Number(first), 2 * every)
  },

  'after a time without instances, run-once runs the latest missed tick once': async (trial, runs) => {
    const every = trial.ttl
    const { schedule } = await runs.begin(trial, { every, missed: 'run-once' })
    await trial.during(schedule.stop())
    await trial.pass(2.3 * every)
    for (let instance = 0; instance < 2; instance += 1) await runs.start(trial, { every, missed: 'run-once' })
    await trial.until('the late tick and the next', () => runs.ticks.length === 3)
    const [first, late, next] = runs.ticks.map(({ due }) => due)
    assert.equal(Number(late) - Number(first), 2 * every)
    assert.equal(Number(next) - Number(late), every)
  },

  'run-once runs nothing late where no tick was run before': async (trial, runs) => {
    const every = 20 * trial.ttl
    const reader = await trial.create({ every, work: () => undefined })
    const { next } = await trial.during(reader.read())
    const { place } = await runs.start(trial, { every, missed: 'run-once' })
    await trial.until('the record was read', () => place.calls.includes('read'))
    await trial.pass(trial.ttl / 2)
    // The next tick may be due by now: ticks are at fixed instants of the clock.
    for (const { due } of runs.ticks) assert(due >= Number(next), `${due} is before ${next?.getTime()}`)
  },

  'any instance can read the next, the running and the last run': async (trial, runs, second) => {
    const every = trial.ttl
    const work = (tick: unknown): unknown =>
      runs.ticks.length === 1 ? Promise.reject(new Error('no paper')) : second.run(tick)
    const { place } = await runs.start(trial, { every, work })
    const reader = await trial.create({ every, work: () => undefined })
    assert.deepEqual((await trial.during(reader.read())).last, undefined)
    await trial.until('the second tick', () => runs.ticks.length === 2)
    const [failed, running] = runs.ticks.map(({ due }) => due)
    const status = await trial.during(reader.read())
    const { owner } = place.leaseOptions
    assert.deepEqual(
      [status.last, status.running].map((run) => run && [run.due, run.owner, run.outcome, run.error]),
      [
        [new Date(Number(failed)).toISOString(), owner, 'failed', 'no paper'],
        [new Date(Number(running)).toISOString(), owner, 'running', undefined],
      ],
    )
    assert.equal(status.next?.getTime(), Number(running) + every)
    second.only.end()
    await trial.until('it is released', () => place.calls.includes('release', place.calls.lastIndexOf('update')))
    const ended = await trial.during(reader.read())
    assert.deepEqual([ended.running, ended.last?.outcome], [undefined, 'done'])
  },

  'a work that takes longer than atMostFor is aborted, and the next tick is run': async (
    trial,
    runs,
    { run: work },
  ) => {
    const every = 2 * trial.ttl
    const { schedule } = await runs.begin(trial, { every, atMostFor: trial.ttl / 2, work })
    await trial.until('it is aborted', () => runs.ticks[0]?.signal.aborted === true, trial.ttl)
    await trial.until('the next tick', () => runs.ticks.length === 2)
    const { last } = await trial.during(schedule.read())
    assert.equal(last?.outcome, 'timed-out')
    runs.check(every)
  },

  'stopping aborts the work, records it as interrupted, and leaves the schedule to others': async (
    trial,
    runs,
    { run: work },
  ) => {
    const { schedule, place } = await runs.begin(trial, { work })
    const { schedule: other } = await runs.start(trial)
    await trial.during(schedule.stop({ timeout: trial.ttl / 10 }), trial.ttl)
    assert.equal(runs.ticks[0]?.signal.aborted, true)
    await trial.until('the next tick', () => runs.ticks.length >= 2)
    assert.notEqual(runs.ticks[1]?.owner, place.leaseOptions.owner)
    assert.notEqual((await trial.during(other.read())).next, undefined)
  },

  'stopping waits for the work as long as it is asked to': async (trial, runs, pending) => {
    const { schedule } = await runs.begin(trial, { work: pending.run })
    let hasStopped = false
    const stopped = schedule.stop({ timeout: 3 * trial.ttl }).then(() => {
      hasStopped = true
    })
    await trial.pass(2 * trial.ttl)
    assert.equal(runs.ticks[0]?.signal.aborted, true)
    assert.equal(hasStopped, false)
    assert.notEqual((await trial.during(schedule.read())).running, undefined)
    pending.only.end()
    await trial.during(stopped, trial.ttl)
    assert.equal((await trial.during(schedule.read())).last?.outcome, 'done')
  },

  'during a pause no instance runs a tick, and none of these ticks is run after it': async (trial, runs) => {
    const every = trial.ttl / 2
    const { schedule } = await runs.start(trial, { every })
    const { place } = await runs.start(trial, { every, missed: 'run-once' })
    await trial.until('the first tick', () => runs.ticks.length > 0)
    const desk = await trial.place()
    const operator = await trial.create({ every, work: () => undefined }, desk)
    await trial.during(operator.pause({ reason: 'maintenance' }))
    const before = runs.ticks.length
    await trial.pass(2.2 * every)
    // One that was about to start as the pause was written may have started.
    assert(runs.ticks.length <= before + 1, `${runs.ticks.length - before} ticks`)
    const { paused, next } = await trial.during(schedule.read())
    assert.deepEqual([paused?.reason, next], ['maintenance', undefined])
    assert.notEqual(paused?.by, place.leaseOptions.owner)
    const left = runs.ticks.length
    const end = desk.now?.().getTime() ?? wallTime()
    assert.equal(await trial.during(operator.resume()), true)
    await runs.start(trial, { every, missed: 'run-once' })
    await trial.until('two ticks', () => runs.ticks.length >= left + 2)
    assert(Number(runs.ticks[left]?.due) >= end, `${runs.ticks[left]?.due} is before ${end}`)
    assert.equal(Number(runs.ticks[left + 1]?.due) - Number(runs.ticks[left]?.due), every)
  },

  'a pause survives the end of all instances': async (trial, runs) => {
    const every = trial.ttl / 2
    const { schedule } = await runs.begin(trial, { every })
    await trial.during(schedule.pause({ reason: 'maintenance' }))
    await trial.during(schedule.stop())
    const left = runs.ticks.length
    await runs.start(trial, { every, missed: 'run-once' })
    await trial.pass(2.2 * every)
    assert.equal(runs.ticks.length, left)
  },

  'a tick does not start after a pause that was written while its holder acquired the lease': async (trial, runs) => {
    const place = await trial.place()
    const operator = await trial.create({ every: trial.ttl, work: () => undefined })
    const { acquire } = place.store
    let isAsked = false
    const noted: typeof acquire = async (...args) => {
      isAsked = true
      return await acquire.apply(place.store, args)
    }
    Object.assign(place.store, { acquire: noted })
    place.store.inject({ kind: 'delay', duration: trial.ttl / (trial.time.isVirtual ? 25 : 8) }, 'acquire')
    await runs.start(trial, { place, every: trial.ttl })
    await trial.until('the lease is asked for', () => isAsked)
    await trial.during(operator.pause({ reason: 'maintenance' }))
    await trial.pass(trial.ttl / 2)
    assert.equal(runs.ticks.length, 0)
  },

  'a run by hand happens once, on one of several instances, also during a pause': async (trial, runs) => {
    const every = 50 * trial.ttl
    const operator = await trial.create({ every, work: () => undefined })
    await trial.during(operator.pause({ reason: 'by hand only' }))
    for (let instance = 0; instance < 3; instance += 1) await runs.start(trial, { every })
    const first = await trial.during(operator.runNow())
    await trial.until('the run', () => runs.ticks.length > 0, seenAfter(trial) + trial.ttl / 2)
    const second = await trial.during(operator.runNow())
    await trial.until('the other run', () => runs.ticks.length > 1, seenAfter(trial) + trial.ttl / 2)
    await runs.start(trial, { every, missed: 'run-once' })
    await trial.pass(trial.ttl)
    assert.deepEqual(runs.byHand, [first, second])
    assert.equal(runs.ticks.length, 2)
    assert.deepEqual((await trial.during(operator.read())).last?.byHand?.id, second)
  },

  'a run by hand whose holder dies in the middle is interrupted, and not run again': async (
    trial,
    runs,
    { run: work },
  ) => {
    const every = 50 * trial.ttl
    const operator = await trial.create({ every, work: () => undefined })
    const { place } = await runs.start(trial, { every, work })
    const id = await trial.during(operator.runNow())
    await trial.until('the run', () => runs.ticks.length > 0)
    place.cutOff()
    await runs.start(trial, { every })
    const isOver = async () => (await trial.during(operator.read())).running === undefined
    for (let looks = 0; looks < 100 && !(await isOver()); looks += 1) await trial.pass(trial.ttl / 20)
    await trial.pass(trial.ttl)
    assert.deepEqual(runs.byHand, [id])
    const { last } = await trial.during(operator.read())
    assert.deepEqual([last?.outcome, last?.byHand?.id], ['interrupted', id])
  },

  'a run by hand that its holder could not record is run by another instance': async (trial, runs) => {
    const every = 50 * trial.ttl
    const place = await trial.place()
    const { update } = place.store
    let isCut = false
    const cut = async (...args: Parameters<NonNullable<typeof update>>): Promise<unknown> => {
      isCut = true
      place.cutOff()
      return await update?.apply(place.store, args)
    }
    Object.assign(place.store, { update: cut })
    await runs.start(trial, { place, every })
    const operator = await trial.create({ every, work: () => undefined })
    const id = await trial.during(operator.runNow())
    await trial.until('a holder that cannot record', () => isCut)
    await runs.start(trial, { every })
    await trial.until('the run', () => runs.ticks.length > 0)
    assert.deepEqual(runs.byHand, [id])
  },

  'a tick that is skipped is run by no instance, and the others are run': async (trial, runs) => {
    const every = trial.ttl
    for (const missed of ['skip', 'run-once'] as const) await runs.start(trial, { every, missed })
    await trial.until('the first tick', () => runs.ticks.length > 0)
    const operator = await trial.create({ every, work: () => undefined })
    const skipped = Number(runs.ticks[0]?.due) + 2 * every
    await trial.during(operator.skip(new Date(skipped)))
    await trial.until('three ticks', () => runs.ticks.length >= 3)
    assert.deepEqual(
      runs.ticks.map(({ due }) => (due - skipped) / every),
      [-2, -1, 1],
    )
  },
})
