/**
 * The machine's clocks beside core's `Clock`: the wall clock, which only distinguishes starts of the machine and lives of a
 * folder, and the monotonic clock, whose origin all processes share.
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
