/** Milliseconds, with a fraction, on the monotonic clock that all processes of the machine share. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
