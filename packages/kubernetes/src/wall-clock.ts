/**
 * The wall clock in milliseconds, for the timestamps that other programs read in a record. Nothing here compares it with
 * anything: expiry is observed.
 */
export function wallClock(): number {
  return Date.now()
}
