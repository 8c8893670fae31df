/**
 * The machine's clocks that core's `Clock` does not tell: the wall clock, which only tells one start of the machine, or
 * one life of a folder, from the next; and the monotonic clock with the origin that all processes share.
 */

/** Milliseconds since 1970; may be set back and forth. */
export function wallClock(): number {
  return Date.now()
}

/**
 * Milliseconds of the monotonic clock. libuv reads CLOCK_MONOTONIC on Linux, mach_continuous_time on macOS, the
 * performance counter on Windows: each counts from the start of the machine, so that all processes have one origin.
 */
export function monotonicClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
