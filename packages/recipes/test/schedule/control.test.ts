import {
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseNameError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { listSchedules, Schedule, ScheduleControl } from '@leasehold/recipes'
import { FaultyStore } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { createPlace, Fleet, HOUR, instant, MINUTE, withoutMetadata } from './fleet.js'

describe('the pause of a schedule', () => {
  it('keeps all instances from running ticks until it is resumed, and none of these ticks is run later', async () => {
    const { fleet, memory, control } = createPlace()
    for (const owner of ['anna', 'berta']) fleet.start(memory, { owner, missed: 'run-once' })
    await fleet.time.advance(15 * MINUTE)
    await control.pause({ reason: 'the printer is broken', by: 'ada@desk' })
    expect(await control.read()).toMatchObject({
      next: undefined,
      paused: { by: 'ada@desk', at: instant(15).toISOString(), reason: 'the printer is broken' },
    })
    await fleet.time.advance(30 * MINUTE)
    expect(await control.resume()).toBe(true)
    expect(await control.read()).toMatchObject({ next: instant(50), paused: undefined })
    // The instance that starts now would make up for the tick of minute 40 if that had been missed.
    fleet.start(memory, { owner: 'carla', missed: 'run-once' })
    await fleet.time.advance(20 * MINUTE)
    expect(fleet.minutes).toEqual([10, 50, 60])
    expect(await control.resume()).toBe(false)
    expect(fleet.errors).toEqual([])
  })

  it('ends at the time that it was given: the tick at this time is run', async () => {
    const { fleet, memory, control } = createPlace()
    fleet.start(memory)
    await control.pause({ reason: 'deployment', until: '2026-01-01T00:30:00Z' })
    await fleet.time.advance(MINUTE)
    expect(await control.read()).toMatchObject({ paused: { by: 'ada', until: instant(30).toISOString() } })
    await fleet.time.advance(40 * MINUTE)
    expect(fleet.minutes).toEqual([30, 40])
    expect((await control.read()).paused).toBeUndefined()
  })

  it('shows the first tick after its end as the next one', async () => {
    const { fleet, memory, control } = createPlace()
    const { schedule } = fleet.start(memory, { every: 10 * MINUTE })
    await control.pause({ reason: 'deployment', until: instant(25) })
    expect((await schedule.read()).next).toEqual(instant(30))
    await schedule.skip(instant(30))
    expect(await schedule.read()).toMatchObject({ next: instant(40), skipped: [instant(30)] })
  })

  it('does not abort a run in progress, and can be set while that has the record of the schedule', async () => {
    const { fleet, memory, control } = createPlace()
    let isAborted = false
    const work = async ({ signal }: { readonly signal: AbortSignal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true
      })
      await new Promise<void>((resolve) => fleet.server.schedule(15 * MINUTE, resolve))
    }
    fleet.start(memory, { work })
    await fleet.time.advance(12 * MINUTE)
    await control.pause({ reason: 'too slow' })
    await fleet.time.advance(30 * MINUTE)
    expect(isAborted).toBe(false)
    expect(fleet.minutes).toEqual([10])
    expect((await control.read()).last?.outcome).toBe('done')
  })

  it('is emitted once by each instance within a heartbeat interval, and so are its replacement and its end', async () => {
    const { fleet, memory, control } = createPlace()
    const seen: string[] = []
    for (const owner of ['anna', 'berta']) {
      const { schedule } = fleet.start(memory, { owner, heartbeatTimeout: 10_000, heartbeatInterval: 1_000 })
      schedule.on('paused', ({ by, reason }) => void seen.push(`${owner}: ${by}, ${reason}`))
      schedule.on('resumed', () => void seen.push(`${owner}: resumed`))
    }
    await fleet.time.advance(5_000)
    expect(seen).toEqual([])
    await control.pause({ reason: 'one' })
    await fleet.time.advance(1_000)
    expect(seen.splice(0).toSorted()).toEqual(['anna: ada, one', 'berta: ada, one'])
    await control.pause({ reason: 'two', until: new Date(fleet.server.wall() + 5_000) })
    await fleet.time.advance(1_000)
    expect(seen.splice(0).toSorted()).toEqual(['anna: ada, two', 'berta: ada, two'])
    await fleet.time.advance(5_000)
    expect(seen.splice(0).toSorted()).toEqual(['anna: resumed', 'berta: resumed'])
    await fleet.time.advance(MINUTE)
    expect(seen).toEqual([])
  })

  it('is written again each hour, because a store may forget records', async () => {
    const grants: string[] = []
    const { fleet, memory, control } = createPlace()
    const { acquire } = memory
    memory.acquire = async (claim, call) => {
      grants.push(claim.name)
      return await acquire.call(memory, claim, call)
    }
    fleet.start(memory)
    await control.pause({ reason: 'summer' })
    grants.length = 0
    await fleet.time.advance(4 * HOUR + MINUTE)
    expect(grants.filter((name) => name === 'report/control')).toHaveLength(4)
    expect(grants).toHaveLength(4)
  })

  it('is not forgotten by changes of two operators at the same time', async () => {
    const { fleet, control, settled, memory } = createPlace()
    const clock = fleet.server
    const options = { name: 'report', every: 10 * MINUTE, clock, now: () => new Date(clock.wall()) }
    const schedule = new Schedule(memory, { ...options, work: () => undefined, owner: 'ada' })
    const changes = [control.pause({ reason: 'together' }), schedule.skip(instant(20)), control.runNow()]
    await settled(Promise.all([...changes, schedule.runNow({ by: 'berta' })]))
    const { paused, skipped, requested } = await control.read()
    expect(paused?.reason).toBe('together')
    expect(skipped).toEqual([instant(20)])
    expect(requested.map(({ by }) => by).toSorted()).toEqual(['ada', 'berta'])
  })

  it('waits for an operator that has died in the middle of a change', async () => {
    const { fleet, memory, control, settled } = createPlace()
    const dead = createLease(memory, 'report/control', { clock: fleet.server, heartbeatTimeout: 30_000 })
    await dead.acquire()
    const { release, update } = memory
    memory.release = () => new Promise(() => {})
    memory.update = () => new Promise(() => {})
    void dead.close().catch(() => {})
    Object.assign(memory, { release, update })
    await settled(control.pause({ reason: 'later' }))
    expect((await control.read()).paused?.reason).toBe('later')
  })

  it('rejects with a LeaseHeldError if somebody holds the record for longer', async () => {
    const { fleet, memory, control, settled } = createPlace()
    await createLease(memory, 'report/control', { clock: fleet.server, owner: 'other' }).acquire()
    await expect(settled(control.pause({ reason: 'never' }))).rejects.toThrow(LeaseHeldError)
  })

  it('resolves if the answer of the store was lost, but the change is there', async () => {
    const faults: string[] = []
    const { fleet, control, settled, memory } = createPlace(
      (store, { server }) =>
        new FaultyStore(store, {
          clock: server,
          plan: ({ operation }) => (faults.includes(operation) ? { kind: 'fail-after' } : undefined),
        }),
    )
    faults.push('update')
    await settled(control.pause({ reason: 'lost' }))
    expect((await control.read()).paused?.reason).toBe('lost')
    expect((await readLease(memory, 'report/control', { clock: fleet.server }))?.metadata.recipe).toBe(
      'schedule-control',
    )
  })
})

describe('skip', () => {
  it.each(['skip', 'run-once'] as const)('keeps all instances from running exactly that tick: %s', async (missed) => {
    const { fleet, memory, control } = createPlace()
    const { schedule } = fleet.start(memory, { owner: 'anna', missed })
    const { schedule: other } = fleet.start(memory, { owner: 'berta', missed })
    await schedule.skip(instant(20))
    await schedule.skip(instant(20))
    await fleet.time.advance(15 * MINUTE)
    // The control knows the timetable now.
    await control.skip(instant(40).toISOString())
    expect((await control.read()).skipped).toEqual([instant(20), instant(40)])
    await fleet.time.advance(8 * MINUTE)
    await schedule.stop()
    await other.stop()
    // The one that starts now would make up for the tick of minute 20 if that had been missed.
    fleet.start(memory, { owner: 'carla', missed })
    await fleet.time.advance(35 * MINUTE)
    expect(fleet.minutes).toEqual([10, 30, 50])
  })

  it('is refused for a time that is past, no tick, run already, or no time', async () => {
    const { fleet, memory, control } = createPlace()
    const { schedule } = fleet.start(memory)
    await expect(control.skip(instant(20))).rejects.toThrow("the timetable of schedule 'report' is not recorded")
    await fleet.time.advance(11 * MINUTE)
    for (const target of [control, schedule]) {
      await expect(target.skip(instant(10))).rejects.toThrow('skip: the tick must be in the future')
      await expect(target.skip('soon')).rejects.toThrow(LeaseConfigurationError)
      await expect(target.skip('2026-01-01T00:20')).rejects.toThrow('with Z or an offset')
      await expect(target.skip(undefined as never)).rejects.toThrow(LeaseConfigurationError)
      await expect(target.skip(instant(15))).rejects.toThrow('is no tick of schedule')
      await expect(target.skip(instant(15))).rejects.toThrow('the next one is 2026-01-01T00:20:00.000Z')
    }
    fleet.start(memory, { owner: 'fast' }, HOUR)
    await fleet.time.advance(10 * MINUTE)
    await expect(schedule.skip(instant(80))).rejects.toThrow(LeaseConflictError)
  })

  it('is refused where ten ticks are skipped already', async () => {
    const { fleet, memory } = createPlace()
    const { schedule } = fleet.start(memory)
    for (let tick = 1; tick <= 10; tick += 1) await schedule.skip(instant(10 * tick))
    await expect(schedule.skip(instant(110))).rejects.toThrow(LeaseConflictError)
    await fleet.time.advance(15 * MINUTE)
    // The first one is past.
    await schedule.skip(instant(110))
    await fleet.time.advance(2 * HOUR)
    expect(fleet.minutes).toEqual([120, 130])
  })
})

describe('the control of a schedule', () => {
  it.each<[string, object, string]>([
    ['no reason', {}, 'reason must be a text of 1 to 500 characters, not undefined'],
    ['an empty reason', { reason: ' ' }, 'reason must be a text of 1 to 500 characters'],
    ['a long reason', { reason: 'x'.repeat(501) }, 'reason must be a text of 1 to 500 characters'],
    ['an author that is no text', { reason: 'x', by: 5 }, 'by must be a text of 1 to 200 characters, not 5'],
    ['an end that is no time', { reason: 'x', until: 'tomorrow' }, 'pause: until must be a date such as'],
    ['an end in the past', { reason: 'x', until: '2025-01-01' }, 'pause: until must be in the future, not 2025-01-01'],
    ['an unknown option', { reason: 'x', untill: '2027-01-01' }, "pause has no option 'untill': did you mean 'until'?"],
  ])('rejects a pause with %s, and asks the store nothing', async (_, options, message) => {
    const asked: string[] = []
    const { control, fleet, memory } = createPlace(
      (store, { server }) =>
        new FaultyStore(store, { clock: server, plan: ({ operation }) => void asked.push(operation) }),
    )
    await expect(control.pause(options as never)).rejects.toThrow(LeaseConfigurationError)
    await expect(control.pause(options as never)).rejects.toThrow(message)
    expect(asked).toEqual([])
    const { schedule } = fleet.start(memory)
    await expect(schedule.pause(options as never)).rejects.toThrow(message)
  })

  it('rejects an unknown option of a run by hand, and an invalid author', async () => {
    const { control } = createPlace()
    await expect(control.runNow({ who: 'x' } as object)).rejects.toThrow("runNow has no option 'who'")
    await expect(control.runNow({ by: '' })).rejects.toThrow('by must be a text')
  })

  it('rejects a store without metadata, a name that is none, and options that are none', async () => {
    const fleet = new Fleet()
    const bare = withoutMetadata(fleet.server)
    expect(() => new ScheduleControl(bare, 'report')).toThrow('ScheduleControl needs metadata for pauses and requests')
    expect(() => new ScheduleControl(new MemoryLeaseStore(), '')).toThrow(LeaseNameError)
    expect(() => new ScheduleControl(new MemoryLeaseStore(), 'report', { nwo: 1 } as object)).toThrow("no option 'nwo'")
    expect(() => new ScheduleControl(new MemoryLeaseStore(), 'report', { now: 1 as never })).toThrow(
      'now must be a function',
    )
    const { schedule } = fleet.start(bare, { atLeastFor: 60_000 })
    await expect(schedule.pause({ reason: 'x' })).rejects.toThrow('keeps no metadata, so the schedule cannot be paused')
    expect(await schedule.read()).toMatchObject({ paused: undefined, requested: [] })
  })

  it('changes nothing once its schedule was stopped', async () => {
    const { fleet, memory } = createPlace()
    const { schedule } = fleet.start(memory)
    await schedule.stop()
    await expect(schedule.pause({ reason: 'x' })).rejects.toThrow(LeaseUnavailableError)
    await expect(schedule.resume()).rejects.toThrow(LeaseUnavailableError)
    await expect(schedule.runNow()).rejects.toThrow(LeaseUnavailableError)
    await expect(schedule.skip(instant(10))).rejects.toThrow(LeaseUnavailableError)
  })

  it('ignores metadata that other programs have left', async () => {
    const { fleet, memory, control } = createPlace()
    const lease = createLease(memory, 'report/control', { clock: fleet.server })
    const nonsense = { paused: '5', skipped: '[1,"x"]', requests: '[{"id":"x"},{"id":"5"},null]', resumedAt: 'soon' }
    await lease.acquire({ metadata: nonsense })
    await lease.release()
    fleet.start(memory)
    expect(await control.read()).toMatchObject({ paused: undefined, skipped: [], requested: [] })
    await fleet.time.advance(11 * MINUTE)
    expect(fleet.minutes).toEqual([10])
  })

  it('keeps away from the record of another recipe', async () => {
    const { fleet, memory, control } = createPlace()
    const other = new Schedule(memory, {
      name: 'report/control',
      every: MINUTE,
      clock: fleet.server,
      now: () => new Date(fleet.server.wall()),
      work: () => undefined,
    })
    other.start()
    await fleet.time.advance(2 * MINUTE)
    await other.stop()
    await expect(control.pause({ reason: 'x' })).rejects.toThrow("is a name of the recipe 'schedule'")
  })

  it('lists the schedules of a store, also those that have not run yet', async () => {
    const { fleet, memory, control } = createPlace()
    fleet.start(memory, { name: 'import' })
    await createLease(memory, 'other', { clock: fleet.server }).acquire()
    await control.pause({ reason: 'not yet' })
    await fleet.time.advance(11 * MINUTE)
    const listed = await listSchedules(memory, '', { clock: fleet.server })
    expect(listed).toMatchObject([
      { name: 'import', paused: undefined, last: { outcome: 'done' }, next: instant(20) },
      { name: 'report', paused: { reason: 'not yet' }, last: undefined, next: undefined, plan: undefined },
    ])
    expect(await listSchedules(memory, 'imp', { clock: fleet.server })).toHaveLength(1)
  })
})
