/** On the monotonic clock that all processes of a machine share, in milliseconds. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
