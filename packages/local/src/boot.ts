import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { type Clock, systemClock } from '@leasehold/core'
import { machineTime, wallTime } from '@leasehold/core/store-kit'

/** If the uptime is ahead of the monotonic clock by at least this, in milliseconds, the machine was suspended. */
const LEAST_SUSPEND = 20
const READINGS = 8

/**
 * By how much two processes of one machine may differ about the time since boot, in milliseconds: the uptime has steps of
 * 10 ms, a clock may miss suspends of up to 20 ms, and may count up to 10 ms too much of the suspends that it sees.
 */
const UNCERTAINTY = 40

/** The time axis that all processes of a machine share, until the machine restarts. */
export interface Boot {
  /** Differs after each start of the machine. */
  readonly id: string
  /** Milliseconds since the start of the machine, suspends counted. */
  readonly now: () => number
  /** By how much `now` of two processes may differ, in milliseconds. */
  readonly uncertainty: number
}

/** The clocks that {@link bootAxis} reads, in milliseconds since the start of the machine; tests replace them. */
export interface BootReadings {
  /** The monotonic clock: one origin for all processes, stands still during a suspend on Linux. */
  readonly monotonic: () => number
  /** In coarse steps; goes on during a suspend. */
  readonly uptime: () => number
}

const systemReadings: BootReadings = {
  monotonic: machineTime,
  uptime: () => uptime() * 1000,
}

/** The axis of the machine, or that of the clock that was given. See `LocalLeaseStoreOptions`. */
export function bootOf(
  { clock = systemClock, bootId }: { readonly clock?: Clock | undefined; readonly bootId?: string | undefined },
  folder: string,
): Boot {
  if (clock !== systemClock) return { id: bootId ?? 'clock', now: () => clock.now(), uncertainty: 0 }
  return { id: bootId ?? readBootId(folder), now: bootAxis(clock), uncertainty: UNCERTAINTY }
}

/** Places the clock of this process on the time axis of the machine, once: the clock itself counts later suspends. */
export function bootAxis(clock: Clock, { monotonic, uptime }: BootReadings = systemReadings): () => number {
  let suspended = 0
  // An interruption between the two readings can only hide a part of the suspends, so the largest difference is the best.
  for (let reading = 0; reading < READINGS; reading += 1) suspended = Math.max(suspended, uptime() - monotonic())
  // An uptime behind the monotonic clock is that of a container, not of the machine.
  const origin = monotonic() + (suspended >= LEAST_SUSPEND ? suspended : 0) - clock.now()
  return () => origin + clock.now()
}

/** By how much two readings of one start of the machine may differ after a correction of the wall clock, in milliseconds. */
const CORRECTION = 600_000

/**
 * The id of this start of the machine: the kernel's own id on Linux and macOS. Elsewhere the instant of the start by the
 * wall clock: a database in the folder whose instant differs by at most ten minutes is of the same start.
 */
function readBootId(folder: string): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  if (process.platform === 'darwin') {
    return execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim()
  }
  // Without an id from the kernel, only the wall clock tells two starts apart.
  return nearestStart(Math.round(wallTime() - uptime() * 1000), readdirSync(folder))
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
