import { readGuarded } from '@leasehold/core/internal'
import { wallTime } from '@leasehold/core/store-kit'

/** The last instant that a `Date` can have, in milliseconds since 1970. */
export const LAST_INSTANT = 8.64e15

/**
 * Reads the wall clock: that of the machine, or the `now` of the user if it is given. If `now` fails, the error is reported
 * and the machine's clock counts. Milliseconds since 1970.
 */
export function readWall(now: (() => Date) | undefined, report: (error: unknown, message: string) => void): number {
  if (now === undefined) return wallTime()
  const onFailed = (error: unknown): void => report(error, 'now() failed')
  const date = readGuarded(now, onFailed)
  const instant = readGuarded(() => (date as Date).getTime(), onFailed)
  if (typeof instant === 'number' && Math.abs(instant) <= LAST_INSTANT) return instant
  report(new Error('now() returned an invalid date'), 'now() failed')
  return wallTime()
}
