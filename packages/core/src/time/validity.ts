/**
 * The bound on how much faster or slower the holder's clock may run than whatever times the lease on the other side:
 * one part in a hundred. Quartz clocks stay within a few hundred parts in a million.
 */
const CLOCK_DRIFT = 0.01

/**
 * Subtracted in addition to the drift, in milliseconds: the boot clock of Linux, which shows a suspend, is read
 * in steps of 10 ms (so that up to 20 ms can go unseen), and timers are rounded to whole milliseconds.
 */
export const VALIDITY_MARGIN = 25

/**
 * How long after the request was *sent* a confirmed acquire or heartbeat lets the holder act, in milliseconds: less
 * than the ttl by the drift and the margin, so that validity ends here before anyone else can be granted.
 */
export function validityOf(ttl: number): number {
  return ttl === Number.POSITIVE_INFINITY ? ttl : ttl * (1 - CLOCK_DRIFT) - VALIDITY_MARGIN
}
