import { cpus, loadavg, release } from 'node:os'

/** The programs and the machine that were measured, in one sentence. */
export function machine(software: string): string {
  const hardware = `${process.platform} ${release()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`
  return `Node ${process.version}, ${software}, ${hardware}`
}

/** The same, with how busy the machine was. */
export function busyMachine(software: string): string {
  const load = loadavg().map((part) => part.toFixed(1))
  return `${machine(software)}, load average ${load.join(', ')} at the start`
}

/** Milliseconds of the machine's monotonic clock: the same in every process of it. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export function today(): string {
  return new Date().toISOString().slice(0, 10)
}
