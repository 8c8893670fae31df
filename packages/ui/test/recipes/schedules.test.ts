import { createLease } from '@leasehold/core'
import { Schedule, ScheduleControl, type ScheduleOptions, type Tick } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { MINUTE, recordOf, START, Town } from './town.js'

const at = (minute: number): number => START + minute * MINUTE

function running(town: Town, more: Partial<ScheduleOptions> = {}): Schedule {
  return town.started(
    new Schedule(town.store, {
      ...town.options,
      name: 'nightly',
      owner: 'anna',
      now: () => new Date(town.wall),
      every: 10 * MINUTE,
      work: () => undefined,
      ...more,
    }),
  )
}

function controlOf(town: Town): ScheduleControl {
  return new ScheduleControl(town.store, 'nightly', { ...town.options, owner: 'op', now: () => new Date(town.wall) })
}

describe('the view of a schedule', () => {
  it('has the plan, the next tick, the run in progress, and the runs that were seen, the last first', async () => {
    const town = new Town()
    let minutes = 0
    const work = async ({ due }: Tick) => {
      minutes = (due.getTime() - START) / MINUTE
      if (minutes === 20) throw new Error('no paper')
      if (minutes === 30) await new Promise<void>((resolve) => town.clock.schedule(5 * MINUTE, resolve))
    }
    running(town, { work })
    for (let minute = 0; minute < 32; minute += 1) {
      await town.look()
      await town.pass(MINUTE)
    }
    const { views, recipeOf } = await town.look()
    expect(recipeOf('nightly')).toEqual({ kind: 'schedule', name: 'nightly' })
    const run = { owner: 'anna', outcome: 'done' }
    expect(views.schedules).toMatchObject([
      {
        name: 'nightly',
        plan: 'every 600000 ms from 1970-01-01T00:00:00.000Z',
        next: at(40),
        running: { due: at(30), startedAt: at(30), outcome: 'running', owner: 'anna' },
        runs: [
          { ...run, due: at(20), outcome: 'failed', error: expect.stringContaining('no paper') },
          { ...run, due: at(10), startedAt: at(10), endedAt: at(10) },
        ],
        skipped: [],
        requested: [],
      },
    ])
    expect(views.schedules[0]?.runs).toHaveLength(2)
    await town.pass(5 * MINUTE)
    const [ended] = (await town.look()).views.schedules
    expect(ended).not.toHaveProperty('running')
    expect(ended?.runs[0]).toMatchObject({ due: at(30), startedAt: at(30), endedAt: at(35), outcome: 'done' })
  })

  it('keeps the last ten runs', async () => {
    const town = new Town()
    running(town)
    for (let round = 0; round < 15; round += 1) {
      await town.pass(10 * MINUTE)
      await town.look()
    }
    const [view] = (await town.look()).views.schedules
    expect(view?.runs.map(({ due }) => due)).toEqual([...Array(10).keys()].map((place) => at(150 - 10 * place)))
  })

  it('has the pause with its author and reason, the ticks to skip, and the runs that were asked for', async () => {
    const town = new Town()
    running(town)
    await town.pass(10 * MINUTE)
    await town.look()
    const control = controlOf(town)
    await town.settled(control.skip(new Date(at(20))))
    await town.settled(control.pause({ reason: 'the printer is broken', by: 'ada', until: new Date(at(35)) }))
    expect((await town.look()).views.schedules).toMatchObject([
      {
        next: at(40),
        paused: { by: 'ada', reason: 'the printer is broken', at: expect.any(Number), until: at(35) },
        skipped: [at(20)],
      },
    ])
    expect((await town.look()).relatedTo('nightly')).toEqual(['nightly/control'])
    expect((await town.look()).recipeOf('nightly/control')).toEqual({ kind: 'schedule', name: 'nightly' })
    // The records stay the same, and the time passes.
    await town.pass(11 * MINUTE)
    expect((await town.look()).views.schedules).toMatchObject([{ skipped: [], paused: { until: at(35) } }])
    await town.pass(15 * MINUTE)
    const [resumed] = (await town.look()).views.schedules
    expect(resumed).not.toHaveProperty('paused')
    await town.settled(control.runNow({ by: 'ada' }))
    expect((await town.look()).views.schedules).toMatchObject([{ requested: [{ by: 'ada', at: expect.any(Number) }] }])
    await town.pass(MINUTE)
    const [run] = (await town.look()).views.schedules
    expect(run?.requested).toEqual([])
    expect(run?.runs[0]).toMatchObject({ byHand: 'ada', outcome: 'done' })
  })

  it('is the same object until a record changes, or a tick is due', async () => {
    const town = new Town()
    running(town, { every: 60 * MINUTE })
    await town.pass(60 * MINUTE)
    const first = await town.look()
    await town.pass(59 * MINUTE)
    expect((await town.look()).views).toBe(first.views)
    await town.pass(2 * MINUTE)
    expect((await town.look()).views).not.toBe(first.views)
  })

  it('shows the run of a process that died as interrupted', async () => {
    const town = new Town()
    const lease = createLease(town.store, 'nightly', { ...town.options, strategy: 'manual', owner: 'dead' })
    const run = { due: new Date(START).toISOString(), owner: 'dead', startedAt: new Date(START).toISOString() }
    const metadata = { recipe: 'schedule', run: JSON.stringify({ ...run, outcome: 'running' }) }
    await lease.acquire({ metadata })
    expect((await town.look()).views.schedules).toMatchObject([{ running: { owner: 'dead' }, runs: [] }])
    await town.pass(20_000)
    const [view] = (await town.look()).views.schedules
    expect(view).not.toHaveProperty('running')
    expect(view?.runs).toMatchObject([{ owner: 'dead', outcome: 'interrupted' }])
  })

  it('has a pause of a program that wrote no valid time', () => {
    const { observer } = new Town()
    const paused = JSON.stringify({ by: 'x', at: 'yesterday', reason: 'y' })
    const { views } = observer.onListing([recordOf('a/control', { recipe: 'schedule-control', paused })], START)
    expect(views.schedules).toMatchObject([{ name: 'a', paused: { by: 'x', at: START, reason: 'y' } }])
  })
})
