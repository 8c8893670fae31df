import { wallTime } from '@leasehold/core/store-kit'
import { LocalLeaseStore } from '@leasehold/local'
import { Schedule, ScheduleControl } from '@leasehold/recipes'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Child } from '../support/child.js'

const program = new URL('programs/instance.ts', import.meta.url)
const EVERY = 1_000
const ENDLESS = '1000000'

/** An instance whose first work does not end, and another one. */
async function startTwo(test: Finishing) {
  const folder = temporaryFolder(test)
  const holder = new Child(test, program, [folder, 'holder', String(EVERY), ENDLESS])
  const { due } = await holder.waitFor({ event: 'runs' })
  const other = new Child(test, program, [folder, 'other', String(EVERY), '0'])
  await other.waitFor({ event: 'started' })
  return { folder, holder, other, due: Number(due) }
}

const ticksOf = (children: readonly Child[]): number[] =>
  children.flatMap(({ lines }) =>
    lines.filter(({ event, byHand }) => event === 'runs' && byHand === undefined).map(({ due }) => Number(due)),
  )

describe.concurrent('a schedule of several processes', { timeout: 120_000 }, () => {
  it('runs no tick twice while instances are killed and started again', async (test) => {
    const folder = temporaryFolder(test)
    const all: Child[] = []
    const start = (owner: string): Child => {
      const child = new Child(test, program, [folder, owner, String(EVERY), '50'])
      all.push(child)
      return child
    }
    const alive = new Set([start('a'), start('b'), start('c')])
    for (let kill = 0; kill < 3; kill += 1) {
      const running = [...alive].map((child) => child.waitFor({ event: 'runs' }).then(() => child))
      const holder = await Promise.race(running)
      await holder.end('SIGKILL')
      alive.delete(holder)
      alive.add(start(`again-${kill}`))
    }
    await Promise.race([...alive].map((child) => child.waitFor({ event: 'done' })))
    const ticks = ticksOf(all)
    expect(ticks.length).toBeGreaterThanOrEqual(4)
    expect(new Set(ticks).size).toBe(ticks.length)
    expect(ticks.every((tick) => tick % EVERY === 0)).toBe(true)
  })

  it('does not run the tick of a killed holder again, and runs the next ones', async (test) => {
    const { folder, holder, other, due } = await startTwo(test)
    const store = new LocalLeaseStore({ folder })
    test.onTestFinished(() => store.close())
    const reader = new Schedule(store, { name: 'report', every: EVERY, work: () => undefined })
    expect((await reader.read()).running).toMatchObject({ owner: 'holder', due: new Date(due).toISOString() })
    await holder.end('SIGKILL')
    await other.waitFor({ event: 'done' })
    expect(Math.min(...ticksOf([other]))).toBeGreaterThan(due)
    // The work says that it is done before its outcome is recorded.
    await test.expect.poll(async () => (await reader.read()).last?.owner, { timeout: 60_000 }).toBe('other')
  })

  it('aborts the work of a holder that was stopped, and goes on without it', async (test) => {
    const { holder, other, due } = await startTwo(test)
    holder.signal('SIGSTOP')
    await other.waitFor({ event: 'done' })
    holder.signal('SIGCONT')
    await holder.waitFor({ event: 'aborted', due })
    const ticks = ticksOf([holder, other])
    expect(new Set(ticks).size).toBe(ticks.length)
  })

  it('runs no tick on any of them during a pause from outside, also not after kills and restarts', async (test) => {
    const folder = temporaryFolder(test)
    const all: Child[] = []
    const start = async (owner: string): Promise<Child> => {
      const child = new Child(test, program, [folder, owner, String(EVERY), '0'])
      all.push(child)
      await child.waitFor({ event: 'started' })
      return child
    }
    const first = await start('a')
    await start('b')
    await Promise.race(all.map((child) => child.waitFor({ event: 'runs' })))
    const store = new LocalLeaseStore({ folder })
    test.onTestFinished(() => store.close())
    const control = new ScheduleControl(store, 'report', { owner: 'operator' })
    await control.pause({ reason: 'maintenance' })
    const paused = wallTime()
    await first.end('SIGKILL')
    const last = await start('c')
    const id = await control.runNow()
    await Promise.race(all.slice(1).map((child) => child.waitFor({ event: 'runs', byHand: id })))
    await last.end('SIGKILL')
    await start('d')
    // A run by hand is no tick, and one that was about to start as the pause was written may have started.
    expect(ticksOf(all).filter((due) => due > paused + 2 * EVERY)).toEqual([])
    expect(await control.resume()).toBe(true)
    const ran = ticksOf(all).length
    await test.expect.poll(() => ticksOf(all).length, { timeout: 60_000 }).toBeGreaterThan(ran)
    expect(all.flatMap(({ lines }) => lines.filter(({ byHand }) => byHand === id))).toHaveLength(1)
  })

  it('does not do a run by hand again after its process was killed in the middle', async (test) => {
    const folder = temporaryFolder(test)
    const store = new LocalLeaseStore({ folder })
    test.onTestFinished(() => store.close())
    const control = new ScheduleControl(store, 'report', { owner: 'operator' })
    await control.pause({ reason: 'by hand only' })
    const holder = new Child(test, program, [folder, 'holder', String(EVERY), ENDLESS])
    const id = await control.runNow()
    await holder.waitFor({ event: 'runs', byHand: id })
    await holder.end('SIGKILL')
    const heir = new Child(test, program, [folder, 'heir', String(EVERY), '0'])
    const second = await control.runNow()
    await heir.waitFor({ event: 'runs', byHand: second })
    expect(heir.lines.filter(({ event }) => event === 'runs')).toHaveLength(1)
    await test.expect.poll(async () => (await control.read()).last?.byHand?.id, { timeout: 60_000 }).toBe(second)
  })

  it('leaves the schedule to others on SIGTERM, with the run recorded as interrupted', async (test) => {
    const { holder, other, due } = await startTwo(test)
    expect(await holder.end('SIGTERM')).toBe(0)
    expect(holder.lines).toContainEqual({ event: 'aborted', due })
    expect(holder.lines.at(-1)).toMatchObject({ event: 'stopped' })
    await other.waitFor({ event: 'done' })
    expect(Math.min(...ticksOf([other]))).toBeGreaterThan(due)
  })
})
