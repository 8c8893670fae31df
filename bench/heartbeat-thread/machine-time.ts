/** The monotonic clock of the machine, in milliseconds: all processes have one origin. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
