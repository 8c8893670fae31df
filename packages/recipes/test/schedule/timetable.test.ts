import { LeaseConfigurationError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { createTimetable, type TimetableOptions } from '../../src/schedule/timetable.js'

const NOW = Date.UTC(2026, 0, 1, 12)

/** The next ticks after an instant, as texts. */
function ticksOf(options: TimetableOptions, from: string, count: number): string[] {
  const table = createTimetable(options, NOW)
  const ticks: string[] = []
  for (let at = Date.parse(from); ticks.length < count; ) {
    at = table.next(at) ?? Number.NaN
    ticks.push(new Date(at).toISOString())
    // The latest tick at its own instant, and before the next one, is the tick itself.
    expect(table.latest(at)).toBe(at)
    expect(table.latest(at + 1)).toBe(at)
    expect(table.latest(at - 1)).toBeLessThan(at)
  }
  return ticks
}

describe('a timetable', () => {
  it('of a cron expression is in UTC unless a time zone is given', () => {
    expect(ticksOf({ cron: '0 3 * * *' }, '2026-06-01T00:00:00Z', 1)).toEqual(['2026-06-01T03:00:00.000Z'])
    const berlin = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }
    expect(ticksOf(berlin, '2026-06-01T00:00:00Z', 1)).toEqual(['2026-06-01T01:00:00.000Z'])
  })

  it('takes seconds where the expression has six parts', () => {
    const ticks = ['2026-06-01T00:00:20.000Z', '2026-06-01T00:00:40.000Z', '2026-06-01T00:01:00.000Z']
    expect(ticksOf({ cron: '*/20 * * * * *' }, '2026-06-01T00:00:00Z', 3)).toEqual(ticks)
  })

  it('has a time of day that does not exist right after the gap, on that day only', () => {
    const options = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }
    expect(ticksOf(options, '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  it('has a time of day that occurs twice once', () => {
    const options = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }
    expect(ticksOf(options, '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  it('has every matching minute that occurs, where an expression has several', () => {
    const options = { cron: '*/30 2 * * *', timeZone: 'Europe/Berlin' }
    expect(ticksOf(options, '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-30T00:00:00.000Z'])
    expect(ticksOf(options, '2026-10-24T12:00:00Z', 5)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:00:00.000Z',
    ])
  })

  it('of an interval counts from 1970, or from the anchor, before and after it', () => {
    expect(ticksOf({ every: 3_600_000 }, '2026-01-01T00:10:00Z', 1)).toEqual(['2026-01-01T01:00:00.000Z'])
    for (const anchor of ['2026-06-01T00:15:00Z', new Date('2026-06-01T00:15:00Z')]) {
      const ticks = ['2026-01-01T00:15:00.000Z', '2026-01-01T01:15:00.000Z']
      expect(ticksOf({ every: 3_600_000, anchor }, '2026-01-01T00:10:00Z', 2)).toEqual(ticks)
    }
  })

  it.each([60_000 / 7, 333.3, 1.5, 1, 1 + 1e-9, 1e3 / 3, 86_400_000 / 7])('of %d ms has whole ticks', (every) => {
    const table = createTimetable({ every, anchor: '2026-01-01T00:00:00Z' }, NOW)
    let tick = table.latest(NOW) ?? Number.NaN
    for (let count = 1; count <= 1_000; count += 1) {
      const next = table.next(tick) ?? Number.NaN
      expect(next).toBeGreaterThan(tick)
      expect(next - tick).toBeLessThan(every + 1)
      // A record keeps whole milliseconds: a tick that was read from it is the same tick.
      expect(Date.parse(new Date(next).toISOString())).toBe(next)
      expect([table.latest(next - 1), table.latest(next), table.next(next - 1)]).toEqual([tick, next, next])
      tick = next
      // Each seventh tick is the start of a minute: rounding does not add up.
      if (every === 60_000 / 7 && count % 7 === 0) expect(tick % 60_000).toBe(0)
    }
  })

  it.each<[TimetableOptions, string]>([
    [{}, 'give either cron or every'],
    [{ cron: '0 3 * * *', every: 5 }, 'give either cron or every'],
    [{ cron: '99 * * * *' }, "cron '99 * * * *' is not a cron expression: CronPattern: Invalid value for minute: 99"],
    [{ cron: 'tomorrow' }, "cron 'tomorrow' is not a cron expression"],
    [{ cron: 5 as unknown as string }, 'cron must be a text such as 0 3 * * *, not 5'],
    [{ cron: '2020-01-01T00:00:00' }, 'is a date, not a cron expression'],
    [{ cron: '0 0 30 2 *' }, "cron '0 0 30 2 *' has no tick in the future"],
    [{ cron: '0 3 * * *', timeZone: 'Mars/Olympus' }, "timeZone 'Mars/Olympus' is not known"],
    [{ cron: '0 3 * * *', anchor: '2026-01-01' }, 'anchor is for every'],
    [{ every: 0 }, 'every must be 1 or more milliseconds, not 0'],
    [{ every: Number.POSITIVE_INFINITY }, 'every must be 1 or more milliseconds, not Infinity'],
    [{ every: 5, timeZone: 'UTC' }, 'timeZone is for cron'],
    [{ every: 5, anchor: 'noon' }, 'anchor must be a date such as 2026-01-31T12:00:00Z, with Z or an offset, not noon'],
    [{ every: 5, anchor: '2026-01-31T12:00' }, 'with Z or an offset, not 2026-01-31T12:00'],
    [{ every: 5, anchor: null as never }, 'anchor must be a date'],
    [{ every: 5, anchor: 5 as never }, 'anchor must be a date'],
    [{ every: '5s' as never }, 'every must be 1 or more milliseconds, not 5s'],
    [{ every: Number.NaN }, 'every must be 1 or more milliseconds, not NaN'],
    [{ every: -5 }, 'every must be 1 or more milliseconds, not -5'],
    [{ every: 1e300 }, 'every 1e+300 has no tick in the future'],
  ])('rejects %j', (options, message) => {
    expect(() => createTimetable(options, NOW)).toThrow(LeaseConfigurationError)
    expect(() => createTimetable(options, NOW)).toThrow(message)
  })
})
