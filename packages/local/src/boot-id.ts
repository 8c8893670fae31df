import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { bootOfFile } from './database-file.js'
import { wallClock } from './wall-clock.js'

/** How far apart two readings of one start of the machine may lie where the wall clock is corrected, in milliseconds. */
const CORRECTION = 600_000

/**
 * What tells this start of the machine from all others: the kernel's own id on Linux and macOS. Elsewhere the instant of
 * the start by the wall clock; a folder's database of within ten minutes of it is of the same start.
 */
export function readBootId(folder: string): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  if (process.platform === 'darwin') {
    return execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim()
  }
  return nearestStart(startedAt(), readdirSync(folder))
}

/** The start of the machine by the wall clock: the only clock that tells two starts apart without the kernel's help. */
function startedAt(): number {
  return Math.round(wallClock() - uptime() * 1000)
}

/** The start that one of the files is of, where it is this one but for a correction of the wall clock. */
export function nearestStart(started: number, files: readonly string[]): string {
  const starts = files.map((file) => Number(bootOfFile(file) ?? Number.NaN))
  const same = starts.find((start) => Math.abs(start - started) <= CORRECTION)
  return String(same ?? started)
}
