import { createLease, LeaseConflictError, readLease } from '@leasehold/core'
import type { ScheduledRun } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { createPlace, HOUR, instant, MINUTE } from './fleet.js'

describe('a run by hand', () => {
  it('happens once, on one instance, during a pause, and is told apart from ticks', async () => {
    const { fleet, memory, control } = createPlace()
    const events: [string, ScheduledRun][] = []
    for (const owner of ['anna', 'berta', 'carla']) {
      const { schedule } = fleet.start(memory, { owner, work: ({ byHand }) => expect(byHand?.by).toBe('ada') })
      schedule
        .on('started', (run) => void events.push(['started', run]))
        .on('ended', (run) => void events.push(['ended', run]))
    }
    await control.pause({ reason: 'by hand only' })
    await fleet.time.advance(3 * MINUTE)
    const id = await control.runNow()
    expect((await control.read()).requested).toEqual([{ id, by: 'ada', at: instant(3).toISOString() }])
    await fleet.time.advance(15 * MINUTE)
    expect(fleet.minutes).toEqual([3])
    const { last, requested, next } = await control.read()
    expect(last).toMatchObject({ due: instant(3).toISOString(), outcome: 'done', byHand: { id, by: 'ada' } })
    expect({ requested, next }).toEqual({ requested: [], next: undefined })
    expect(events).toEqual([
      ['started', { ...last, outcome: 'running', endedAt: undefined }],
      ['ended', last],
    ])
    // It is not kept for ever.
    expect((await readLease(memory, 'report/control', { clock: fleet.server }))?.metadata).not.toHaveProperty(
      'requests',
    )
  })

  it('starts within a heartbeat interval, and moves no tick', async () => {
    const { fleet, memory, control } = createPlace()
    const { schedule } = fleet.start(memory)
    await fleet.time.advance(3 * MINUTE)
    await control.runNow({ by: 'berta' })
    await fleet.time.advance(12_000)
    expect(fleet.minutes).toEqual([3])
    expect((await schedule.read()).next).toEqual(instant(10))
    await fleet.time.advance(20 * MINUTE)
    expect(fleet.minutes).toEqual([3, 10, 20])
  })

  it('starts at once if an instance asks for it itself', async () => {
    const { fleet, memory, settled } = createPlace()
    const { schedule } = fleet.start(memory)
    await fleet.time.advance(3 * MINUTE)
    await settled(schedule.runNow())
    await fleet.time.advance(1)
    expect(fleet.minutes).toEqual([3])
  })

  it('waits until an earlier run has ended, and until an instance is there', async () => {
    const { fleet, memory, control } = createPlace()
    await control.runNow()
    await fleet.time.advance(MINUTE)
    const work = () => new Promise<void>((resolve) => void fleet.server.schedule(2 * MINUTE, resolve))
    for (const owner of ['anna', 'berta']) fleet.start(memory, { owner, work })
    await fleet.time.advance(MINUTE)
    await control.runNow()
    await control.runNow()
    await fleet.time.advance(7 * MINUTE)
    expect(fleet.minutes).toEqual([0, 2, 2])
    expect((await control.read()).requested).toEqual([])
  })

  it.each(['skip', 'run-once'] as const)(
    'delays a tick that is due meanwhile, and does not replace it: %s',
    async (missed) => {
      for (const owners of [['anna'], ['anna', 'berta']]) {
        const { fleet, memory, control } = createPlace()
        const length = ({ byHand }: { readonly byHand: unknown }) => (byHand === undefined ? 0 : 25 * MINUTE)
        const work = (tick: { readonly byHand: unknown }) =>
          new Promise<void>((resolve) => void fleet.server.schedule(length(tick), resolve))
        for (const owner of owners) fleet.start(memory, { owner, work, missed })
        await fleet.time.advance(8 * MINUTE)
        await control.runNow()
        await fleet.time.advance(43 * MINUTE)
        // Of the ticks of minutes 10, 20 and 30, the latest that was due when the run by hand ended.
        expect(fleet.minutes).toEqual([8, 30, 40, 50])
      }
    },
  )

  it('delays a tick for other instances, also if its own is stopped at its end', async () => {
    const { fleet, memory, control } = createPlace()
    const work = () => new Promise<void>((resolve) => void fleet.server.schedule(9 * MINUTE, resolve))
    const { schedule } = fleet.start(memory, { owner: 'anna', work })
    await fleet.time.advance(8 * MINUTE)
    await control.runNow()
    await fleet.time.advance(MINUTE)
    fleet.start(memory, { owner: 'berta' })
    await fleet.time.advance(5 * MINUTE)
    void schedule.stop({ timeout: HOUR })
    await fleet.time.advance(8 * MINUTE)
    expect(fleet.ticks).toEqual([
      { minute: 8, owner: 'anna' },
      { minute: 10, owner: 'berta' },
      { minute: 20, owner: 'berta' },
    ])
  })

  it('is interrupted, and not run again, if its instance dies in the middle', async () => {
    const { fleet, memory, control } = createPlace()
    let isDead = false
    const plan = () => (isDead ? ({ kind: 'hang' } as const) : undefined)
    const dying = new FaultyStore(memory, { clock: fleet.server, plan })
    fleet.start(dying, { owner: 'dying', every: HOUR, work: () => new Promise(() => {}) })
    const id = await control.runNow()
    await fleet.time.advance(MINUTE)
    isDead = true
    fleet.start(memory, { owner: 'heir', every: HOUR })
    await fleet.time.advance(30 * MINUTE)
    expect(fleet.ticks).toEqual([{ minute: 0, owner: 'dying' }])
    expect((await control.read()).last).toMatchObject({ outcome: 'interrupted', byHand: { id } })
  })

  it('is not run twice if an instance of the version before writes the record without its mark', async () => {
    const { fleet, memory, control } = createPlace()
    fleet.start(memory, { owner: 'anna' })
    await control.runNow()
    await fleet.time.advance(MINUTE)
    const before = createLease(memory, 'report', { clock: fleet.server, logger: silentLogger })
    await before.acquire()
    const { request, ...metadata } = before.previous ?? {}
    expect(request).toBe('1')
    await before.release({ metadata })
    fleet.start(memory, { owner: 'berta' })
    await fleet.time.advance(2 * MINUTE)
    expect(fleet.minutes).toEqual([0])
  })

  it('keeps the ticks in a record of the version before', async () => {
    const { fleet, memory, control } = createPlace()
    const run = { due: instant(80), owner: 'old', startedAt: instant(80), outcome: 'done', endedAt: instant(81) }
    const before = createLease(memory, 'report', { clock: fleet.server, logger: silentLogger })
    await before.acquire({
      metadata: { recipe: 'schedule', tick: instant(80).toISOString(), run: JSON.stringify(run) },
    })
    await before.release()
    expect((await control.read()).last).toEqual(JSON.parse(JSON.stringify(run)))
    const { schedule } = fleet.start(memory)
    await control.runNow()
    await fleet.time.advance(85 * MINUTE)
    expect(fleet.minutes).toEqual([0])
    expect((await schedule.read()).next).toEqual(instant(90))
  })

  it('is not run twice if its request could not be removed', async () => {
    const { fleet, memory, control } = createPlace()
    const { update } = memory
    memory.update = async (grant, metadata, call) => {
      if (grant.name === 'report/control' && metadata.requests === undefined) throw new Error('no')
      return await update.call(memory, grant, metadata, call)
    }
    for (const owner of ['anna', 'berta']) fleet.start(memory, { owner })
    await control.runNow()
    await fleet.time.advance(8 * MINUTE)
    fleet.start(memory, { owner: 'carla' })
    await fleet.time.advance(MINUTE)
    expect(fleet.minutes).toEqual([0])
    expect((await readLease(memory, 'report/control', { clock: fleet.server }))?.metadata).toHaveProperty('requests')
    expect((await control.read()).requested).toEqual([])
    // The next change removes it.
    memory.update = update
    await control.pause({ reason: 'enough' })
    expect((await readLease(memory, 'report/control', { clock: fleet.server }))?.metadata).not.toHaveProperty(
      'requests',
    )
  })

  it('is not asked for where five wait already', async () => {
    const { control, settled } = createPlace()
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.push(await control.runNow())
    expect(new Set(ids).size).toBe(5)
    await expect(settled(control.runNow())).rejects.toThrow(LeaseConflictError)
    await expect(settled(control.runNow())).rejects.toThrow("5 runs of schedule 'report' by hand wait already")
  })

  it('is recorded without its author where the record has little room', async () => {
    const { fleet, memory } = createPlace()
    const store = Object.assign(new FaultyStore(memory), { limits: { ...memory.limits, metadata: 500 } })
    const work = () => new Promise<void>((resolve) => void fleet.server.schedule(MINUTE, resolve))
    const { schedule } = fleet.start(store, { owner: 'o'.repeat(60), work })
    for (const by of ['a'.repeat(150), 'b'.repeat(150)]) {
      await schedule.runNow({ by })
      await fleet.time.advance(MINUTE / 2)
      const { running } = await schedule.read()
      expect(running?.byHand?.by).toBe(by.startsWith('a') ? by : '')
      await fleet.time.advance(MINUTE)
    }
    expect((await schedule.read()).last).toMatchObject({ outcome: 'done', byHand: { by: 'b'.repeat(150) } })
    expect(fleet.errors).toEqual([])
  })
})
