import { createLease, LeaseConfigurationError, LeaseHeldError, LeaseNameError } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import type { ScheduleRequest } from '../../src/protocol.js'
import { controlSchedule } from '../../src/recipes/control-schedule.js'
import { MINUTE, START, Town } from './town.js'

function place() {
  const town = new Town()
  town.started(
    new Schedule(town.store, {
      ...town.options,
      name: 'nightly',
      owner: 'anna',
      now: () => new Date(town.wall),
      every: 10 * MINUTE,
      work: () => undefined,
    }),
  )
  const ask = (request: unknown) =>
    town.settled(controlSchedule(town.store, request as ScheduleRequest, 'ada', { timeout: 3_000, clock: town.clock }))
  const view = async () => (await town.look()).views.schedules[0]
  return { town, ask, view }
}

describe('an action on a schedule', () => {
  it('pauses it until a time, and resumes it', async () => {
    const { ask, view } = place()
    await ask({ name: 'nightly', action: 'pause', reason: 'deployment', until: START + 35 * MINUTE })
    expect((await view())?.paused).toEqual({ by: 'ada', at: START, reason: 'deployment', until: START + 35 * MINUTE })
    await ask({ name: 'nightly', action: 'resume' })
    expect(await view()).not.toHaveProperty('paused')
  })

  it('asks for a run, and has a tick skipped', async () => {
    const { town, ask, view } = place()
    await town.pass(10 * MINUTE)
    await ask({ name: 'nightly', action: 'skip', tick: START + 30 * MINUTE })
    expect((await view())?.skipped).toEqual([START + 30 * MINUTE])
    await ask({ name: 'nightly', action: 'run-now' })
    await town.pass(MINUTE)
    expect((await view())?.runs[0]).toMatchObject({ byHand: 'ada', outcome: 'done' })
  })

  it.each([
    [undefined, 'name must be the name of a schedule'],
    [{ name: 5, action: 'resume' }, 'name must be the name of a schedule, not 5'],
    [{ name: 'nightly' }, 'action must be one of pause, resume, run-now, skip, not undefined'],
    [{ name: 'nightly', action: 'constructor' }, 'not constructor'],
    [{ name: 'nightly', action: 'pause' }, 'reason must be a text'],
    [{ name: 'nightly', action: 'pause', reason: ' ' }, 'reason must be a text'],
    [{ name: 'nightly', action: 'pause', reason: 'x', until: 'tomorrow' }, 'until must be an instant in milliseconds'],
    [{ name: 'nightly', action: 'pause', reason: 'x', until: 1 }, 'until must be in the future'],
    [{ name: 'nightly', action: 'pause', reason: 'x', by: 'root' }, "'pause' takes name, action, reason, until"],
    [{ name: 'nightly', action: 'skip' }, 'tick must be an instant in milliseconds since 1970, not undefined'],
    [{ name: 'nightly', action: 'skip', tick: 9e15 }, 'tick must be an instant'],
    [{ name: 'nightly', action: 'skip', tick: null }, 'tick must be an instant'],
  ])('%j is refused with a sentence', async (request, sentence) => {
    const { ask } = place()
    const failure = await ask(request).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LeaseConfigurationError)
    expect((failure as Error).message).toContain(sentence)
  })

  it('by a user with a long name, or with none, is recorded', async () => {
    const { town, view } = place()
    for (const [by, shown] of [
      ['a'.repeat(300), 'a'.repeat(200)],
      ['', expect.stringMatching(/./)],
    ] as const) {
      const request = { name: 'nightly', action: 'pause', reason: 'x' } as const
      await town.settled(controlSchedule(town.store, request, by, { timeout: 3_000, clock: town.clock }))
      expect((await view())?.paused?.by).toEqual(shown)
    }
  })

  it('gives up within seconds if another operator does not end', async () => {
    const { town, ask } = place()
    const other = createLease(town.store, 'nightly/control', { ...town.options, owner: 'other' })
    await other.acquire()
    const begun = town.wall
    await expect(ask({ name: 'nightly', action: 'resume' })).rejects.toBeInstanceOf(LeaseHeldError)
    expect(town.wall - begun).toBeLessThan(20_000)
    await other.release()
  })

  it('with a name that no lease can have is refused', async () => {
    const { ask } = place()
    await expect(ask({ name: '', action: 'resume' })).rejects.toBeInstanceOf(LeaseNameError)
  })
})
