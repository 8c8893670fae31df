/** The times of the service are whole seconds. */
const SECOND = 1_000

/** The times in an answer about a blob or a container, by the service's clock. */
export interface WriteStamp {
  /** Of the last write. */
  readonly lastModified: Date
  /** Of the answer. */
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
