import { LeaseConfigurationError } from '@leasehold/core'
import { Cron } from 'croner'

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
  /** The interval between two ticks, in milliseconds. It knows no time zones. */
  readonly every?: number | undefined
  /** A tick of `every`, as an ISO 8601 text or a `Date`: the others are whole intervals away. 1970 in UTC unless given. */
  readonly anchor?: string | Date | undefined
}

/** The ticks of a schedule, as milliseconds since 1970. */
export interface Timetable {
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
  if (table.next(now) === undefined) throw wrong(`cron '${cron}' has no tick in the future: change it`)
  return table
}

function intervalTable(every: unknown, timeZone: unknown, anchor: unknown): Timetable {
  if (typeof every !== 'number' || !Number.isFinite(every) || every < 1) {
    throw wrong(`every must be 1 or more milliseconds, not ${String(every)}`)
  }
  if (timeZone !== undefined) throw wrong('timeZone is for cron: every knows no time zones, so leave it out')
  const from = anchor === undefined ? 0 : new Date(anchor as string).getTime()
  if (Number.isNaN(from)) throw wrong(`anchor must be a date such as 2026-01-31T12:00:00Z, not ${String(anchor)}`)
  const latest = (at: number): number => from + Math.floor((at - from) / every) * every
  return { latest, next: (after) => latest(after) + every }
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
    next: (after) => pattern.nextRun(new Date(after))?.getTime(),
    // The reference itself does not count.
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
