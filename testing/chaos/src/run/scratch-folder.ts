import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Servers of a process that has ended end soon after, and write until then. In seconds. */
const SERVERS_END = 2

/**
 * From now on, this process and those that it starts have their temporary files in one folder. It is removed when this process has
 * ended, also when it was interrupted while servers started.
 */
export function useScratchFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-chaos-'))
  // PostgreSQL runs as another user, if this one is root.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.once('exit', () => {
    const removal = ['-c', `sleep ${SERVERS_END}; rm -rf "$1"`, 'removal', folder]
    spawn('/bin/sh', removal, { detached: true, stdio: 'ignore' }).unref()
  })
}
