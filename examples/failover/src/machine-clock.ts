/**
 * Milliseconds of the machine's monotonic clock. On Linux, all processes of a machine share this clock, so their records
 * can be compared. The clock continues while a process is stopped.
 */
export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
