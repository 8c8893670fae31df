/** Milliseconds since 1970. It may be set back and forth, so no rule of a lease depends on it. */
export function wallTime(): number {
  return Date.now()
}

/**
 * Milliseconds of the monotonic clock, which may stand still during a suspend. It counts from the start of the machine, so
 * that all processes and threads have one origin.
 */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
