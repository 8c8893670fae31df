import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { cleanUpAtNight } from '../readme/schedule.js'
import { reportHourly, withoutReports, writeNowInstead } from '../readme/schedule-control.js'
import { exportOrders } from '../readme/schedule-report.js'

it('the example of the README is due at half past two in Berlin', async () => {
  await using schedule = cleanUpAtNight(new MemoryLeaseStore(), async () => {})
  const { next } = await schedule.read()
  const time = next?.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
  // On the day on which this time does not exist: right after the gap.
  expect(['02:30:00', '03:00:00']).toContain(time)
})

it('the example of the guide finds the report of the run before, also that of another instance', async () => {
  const store = new MemoryLeaseStore()
  const reports: string[] = []
  let exported = 0
  const exportSince = async (from: string) => {
    exported += 1
    // A run that fails leaves the report as it was.
    if (exported === 2) throw new Error('no connection')
    reports.push(from)
    return `order ${exported}`
  }
  {
    await using _first = exportOrders(store, 20, exportSince)
    await expect.poll(() => exported, { timeout: 20_000 }).toBeGreaterThanOrEqual(3)
  }
  const before = exported
  await using _second = exportOrders(store, 20, exportSince)
  await expect.poll(() => exported, { timeout: 20_000 }).toBeGreaterThan(before + 1)
  expect(reports.slice(0, 2)).toEqual(['the beginning', 'order 1'])
  expect(reports).toContain(`order ${before}`)
  expect(new Set(reports).size).toBe(reports.length)
})

it('the examples of the guide pause a schedule, skip a tick, and run it by hand', async () => {
  const store = new MemoryLeaseStore()
  const lines: string[] = []
  const reports: unknown[] = []
  await using schedule = reportHourly(
    store,
    (line) => void lines.push(line),
    async (_, askedBy) => void reports.push(askedBy),
  )
  const { next } = await schedule.read()
  await withoutReports(store, new Date('2099-01-01'), async () => {
    expect(await schedule.read()).toMatchObject({ paused: { by: 'migration', reason: 'the tables are migrated' } })
  })
  expect((await schedule.read()).paused).toBeUndefined()
  await writeNowInstead(schedule, 'ada')
  await expect.poll(() => reports, { timeout: 20_000 }).toEqual(['ada'])
  expect((await schedule.read()).next?.getTime()).toBeGreaterThan(Number(next))
  await expect.poll(() => lines, { timeout: 20_000 }).toContain('by hand for ada: done')
})
