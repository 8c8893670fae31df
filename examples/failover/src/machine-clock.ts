/**
 * Milliseconds of the machine's monotonic clock. On Linux all processes of a machine read the same one, so that what
 * they wrote down can be laid side by side; and it goes on while a process is stopped.
 */
export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
