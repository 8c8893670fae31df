import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { keptAlive } from '../time/keep-alive.js'
import { pause } from './pause.js'

/** The times in the headers of HTTP (`Date`, `Last-Modified`) are whole seconds, rounded down. */
export const SECOND = 1_000

/**
 * The largest number of names for which a store keeps the ETag of its last write: its own grants, and its writes over them.
 * A record with that ETag is the last one of its name, as far as this process knows. Any other record that was written in
 * this second may be an older one: a snapshot, or a write of metadata that was read earlier, may have restored it over a
 * grant with a larger token. The next grant then takes a pause.
 */
export const KNOWN_NAMES = 10_000

/** The times in an answer of a service over HTTP, by the clock of the service. */
export interface WriteStamp {
  /** The time of the last write of the entry. */
  readonly lastModified: Date
  /** The time of the answer. */
  readonly date: Date
}

/** Whether the second of the last write is over: a later write then has a later time. */
export function isSettled({ date, lastModified }: WriteStamp): boolean {
  return date.getTime() > lastModified.getTime()
}

/** The end of the second of the last write, above all tokens that were granted before it. */
export function endOfSecond({ lastModified }: Pick<WriteStamp, 'lastModified'>): Date {
  return new Date(lastModified.getTime() + SECOND)
}

/**
 * The service's time for the next token, in milliseconds since 1970: larger than all tokens of earlier seconds, and not
 * larger than those of a later one. If the second of the last write was not over, the caller has to wait for its end, or
 * to know that the record is the last one.
 */
export function tokenTime(stamp: WriteStamp, isKnown: boolean): bigint {
  const time = isSettled(stamp) || isKnown ? stamp.date : endOfSecond(stamp)
  return BigInt(time.getTime())
}

/**
 * Waits for a second, after which the second of the last write is over. It keeps the process alive like a request, unlike
 * the timers of the clock: the caller waits for the answer.
 */
export async function settling(clock: Clock, call: StoreCall): Promise<void> {
  await keptAlive(clock, pause(clock, SECOND, call))
}
