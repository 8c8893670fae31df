/** A duration as a column keeps it: in whole milliseconds, rounded up; `null` without an end. */
export function toMilliseconds(duration: number): number | null {
  return duration === Number.POSITIVE_INFINITY ? null : Math.ceil(duration)
}

/**
 * The period of a break as a statement takes it, in milliseconds; `null` for the time that is left. A period that is longer
 * than the longest ttl means the same, and must not overflow the column.
 */
export function breakLimit(period: number | undefined, maxTtl: number): number | null {
  if (period === undefined || period === Number.POSITIVE_INFINITY) return null
  return toMilliseconds(Math.min(period, 10 * maxTtl))
}
