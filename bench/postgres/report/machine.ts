import { cpus, loadavg, release } from 'node:os'

/** The programs and the machine that were measured, and how busy the machine was, in one sentence. */
export function machine(server: string): string {
  const [cpu] = cpus()
  const software = `Node ${process.version}, ${server}`
  const hardware = `${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`
  return `${software}, ${hardware}, load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')} at the start`
}
