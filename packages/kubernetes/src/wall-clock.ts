/**
 * The wall clock in milliseconds, for the timestamps that other programs read. Expiry is observed on the monotonic clock
 * instead.
 */
export function wallClock(): number {
  return Date.now()
}
