import { LeaseConfigurationError } from '@leasehold/core'
import { Cron } from 'croner'
import { LAST_INSTANT } from '../wall-clock.js'

/** A day, or a time of a day with its offset from UTC. */
const ISO_INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** When a schedule is due. Exactly one of `cron` and `every` is given. */
export interface TimetableOptions {
  /**
   * A cron expression, such as `0 3 * * *`; with seconds first if it has 6 parts. If it names one time of day, it is due once
   * a day also when the clocks change: right after the gap if the time is skipped, and at its first occurrence if it occurs
   * twice. Other expressions are due at each matching time that occurs.
   */
  readonly cron?: string | undefined
  /** The time zone of `cron`, such as `Europe/Berlin`; UTC unless given. */
  readonly timeZone?: string | undefined
  /**
   * The interval between two ticks, in milliseconds. It knows no time zones. It may have a fraction: tick `n` is due `n`
   * intervals after the anchor, rounded to a whole millisecond, so that no error adds up.
   */
  readonly every?: number | undefined
  /**
   * A tick of `every`, as a `Date` or an ISO 8601 text with `Z` or an offset: the others are whole intervals away. 1970 in UTC
   * unless given.
   */
  readonly anchor?: string | Date | undefined
}

/** The ticks of a schedule, as milliseconds since 1970: whole numbers, because a record keeps whole milliseconds. */
export interface Timetable {
  /** The options that it was made of, as one text: instances of one schedule have the same. */
  readonly plan: string
  /** The first tick after an instant; `undefined` if there is none. */
  next(after: number): number | undefined
  /** The last tick that is not after an instant; `undefined` if there is none. */
  latest(at: number): number | undefined
}

/** Throws a `LeaseConfigurationError` if the options are invalid, or if there is no tick after `now`. */
export function createTimetable(options: TimetableOptions, now: number): Timetable {
  const { cron, every, timeZone, anchor } = options
  if ((cron === undefined) === (every === undefined)) throw wrong('give either cron or every')
  const table = every === undefined ? cronTable(cron, timeZone, anchor) : intervalTable(every, timeZone, anchor)
  if (table.next(now) === undefined) {
    throw wrong(`${cron === undefined ? `every ${every}` : `cron '${cron}'`} has no tick in the future: change it`)
  }
  return table
}

/** Whether an instant is a tick. */
export function isTick(table: Timetable, instant: number): boolean {
  return table.latest(instant) === instant
}

/** The plan in the records of `TickClaims`: another scheduler, such as node-cron, has the timetable. */
export const FOREIGN_PLAN = 'by another scheduler'

/** The timetable that a record has as a text; `undefined` if it has none that is due after `now`. */
export function timetableOf(plan: string | undefined, now: number): Timetable | undefined {
  const [, every, anchor] = /^every (\S+) ms from (\S+)$/.exec(plan ?? '') ?? []
  const [, cron, timeZone] = /^cron (.+) in (\S+)$/.exec(plan ?? '') ?? []
  try {
    return createTimetable(every === undefined ? { cron, timeZone } : { every: Number(every), anchor }, now)
  } catch {
    return undefined
  }
}

function intervalTable(every: unknown, timeZone: unknown, anchor: unknown): Timetable {
  if (typeof every !== 'number' || !Number.isFinite(every) || every < 1) {
    throw wrong(`every must be 1 or more milliseconds, not ${String(every)}`)
  }
  if (timeZone !== undefined) throw wrong('timeZone is for cron: every knows no time zones, so leave it out')
  const from = anchor === undefined ? 0 : anchorTime(anchor)
  const tickOf = (place: number): number => Math.round(from + place * every)
  const latestPlace = (at: number): number => {
    // A tick is rounded, so that one more or one less may have been reached.
    const place = Math.floor((at - from) / every)
    if (tickOf(place + 1) <= at) return place + 1
    return tickOf(place) <= at ? place : place - 1
  }
  return {
    plan: `every ${every} ms from ${new Date(from).toISOString()}`,
    latest: (at) => tickOf(latestPlace(at)),
    next: (after) => {
      const tick = tickOf(latestPlace(after) + 1)
      return tick <= LAST_INSTANT ? tick : undefined
    },
  }
}

/** Throws unless the anchor is the same instant on every machine: a time of day without an offset is not. */
function anchorTime(anchor: unknown): number {
  const instant = instantOf(anchor)
  if (instant !== undefined) return instant
  throw wrong(`anchor must be a date such as 2026-01-31T12:00:00Z, with Z or an offset, not ${String(anchor)}`)
}

/** The instant of a `Date`, or of an ISO 8601 text with `Z` or an offset; `undefined` if the value is none of them. */
export function instantOf(value: unknown): number | undefined {
  const isDate = value instanceof Date || (typeof value === 'string' && ISO_INSTANT.test(value))
  const instant = isDate ? new Date(value).getTime() : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}

function cronTable(cron: unknown, timeZone: unknown = 'UTC', anchor: unknown): Timetable {
  if (typeof cron !== 'string') throw wrong(`cron must be a text such as 0 3 * * *, not ${String(cron)}`)
  if (anchor !== undefined) throw wrong('anchor is for every: leave it out')
  checkTimeZone(timeZone)
  let pattern: Cron
  try {
    // Without a function it starts no timer.
    pattern = new Cron(cron, { timezone: timeZone, paused: true })
  } catch (cause) {
    throw wrong(`cron '${cron}' is not a cron expression: ${(cause as Error).message}`, cause)
  }
  if (pattern.getPattern() === undefined) throw wrong(`cron '${cron}' is a date, not a cron expression`)
  return {
    plan: `cron ${cron.trim().replaceAll(/\s+/g, ' ')} in ${timeZone}`,
    next: (after) => pattern.nextRun(new Date(after))?.getTime(),
    // `previousRuns` leaves out the instant that it is given.
    latest: (at) => pattern.previousRuns(1, new Date(at + 1))[0]?.getTime(),
  }
}

function checkTimeZone(timeZone: unknown): asserts timeZone is string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timeZone as string })
  } catch (cause) {
    throw wrong(`timeZone '${String(timeZone)}' is not known: use a name such as Europe/Berlin`, cause)
  }
}

/** The error for an option of a schedule that is not valid. */
export function wrong(message: string, cause?: unknown): LeaseConfigurationError {
  return new LeaseConfigurationError(`Schedule: ${message}`, cause === undefined ? {} : { cause })
}
