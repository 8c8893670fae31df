import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { wallClock } from './wall-clock.js'

/** By how much two readings of one start of the machine may differ after a correction of the wall clock, in milliseconds. */
const CORRECTION = 600_000

/**
 * The id of this start of the machine: the kernel's own id on Linux and macOS. Elsewhere the instant of the start by the
 * wall clock: a database in the folder whose instant differs by at most ten minutes is of the same start.
 */
export function readBootId(folder: string): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  if (process.platform === 'darwin') {
    return execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim()
  }
  return nearestStart(startedAt(), readdirSync(folder))
}

/** The start of the machine by the wall clock: without an id from the kernel, no other clock differs between two starts. */
function startedAt(): number {
  return Math.round(wallClock() - uptime() * 1000)
}

/** The start of one of the files, if it differs from this one only by a correction of the wall clock. */
export function nearestStart(started: number, files: readonly string[]): string {
  const starts = files.map((file) => Number(bootOfFile(file) ?? Number.NaN))
  const same = starts.find((start) => Math.abs(start - started) <= CORRECTION)
  return String(same ?? started)
}

/**
 * One database for each start of the machine, so that a file that a power failure left half-written is not opened again.
 * Versions on lmdb used the same name: they reject the folder, and do not grant leases in a file of their own.
 */
export function databaseFile(bootId: string): string {
  return `leases-${encodeURIComponent(bootId)}.mdb`
}

/** The boot id of a database file, or of a file that belongs to one (`…-lock`, a draft); `undefined` of any other. */
export function bootOfFile(file: string): string | undefined {
  const encoded = /^leases-(.+?)\.mdb(?:-[\w-]+)?$/.exec(file)?.[1]
  return encoded === undefined ? undefined : decodeURIComponent(encoded)
}
