import { cpus, loadavg, release } from 'node:os'

/** On what it was measured, and how busy that was, in one sentence. */
export function machine(serverVersion: string): string {
  const [cpu] = cpus()
  const software = `Node ${process.version}, PostgreSQL ${serverVersion}`
  const hardware = `${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`
  return `${software}, ${hardware}, load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')} at the start`
}
