import { uptime } from 'node:os'
import { checkOptionNames } from '../errors/option-names.js'
import type { Clock } from './clock.js'
import { machineTime, wallTime } from './machine-clock.js'

/** Node turns a longer delay into 1 ms. */
const MAX_DELAY = 2 ** 31 - 1

/** How far wall clock and monotonic clock may come apart before the boot clock is looked at, in milliseconds. */
const LOOK_ABOVE = 5

/** The step of the uptime on Linux, in milliseconds. */
export const BOOT_STEP = 10

/** A reading of the boot clock that took longer than this may have been interrupted, and is taken again. Milliseconds. */
const LONGEST_READING = 5
const READINGS = 8

/** The readings of one machine from which {@link createSystemClock} makes a clock, in milliseconds; for simulations. */
export interface ClockReadings {
  /** Monotonic; may stand still during a suspend. */
  readonly monotonic: () => number
  /** The wall clock. */
  readonly wall: () => number
  /** Monotonic, goes on during a suspend; absent where `monotonic` does so itself. */
  readonly boot?: (() => number) | undefined
  /** Its timers, which stand still during a suspend; those of Node unless given. */
  readonly schedule?: Clock['schedule'] | undefined
  /** As in {@link Clock}. */
  readonly isVirtual?: boolean | undefined
}

const systemReadings: ClockReadings = {
  monotonic: () => performance.now(),
  wall: wallTime,
  // On macOS and Windows libuv's monotonic clock goes on during a suspend by itself; on Linux it stands still.
  boot: process.platform === 'linux' ? () => uptime() * 1000 : undefined,
}

/**
 * A clock over the machine's own. Suspended time is the time that the boot clock counted and the monotonic clock did not.
 * Reading the boot clock costs microseconds, so it is read only when the wall clock has moved against the monotonic one
 * since the last look: after a suspend it always has, and after a step of the wall clock the look finds nothing.
 */
export function createSystemClock(readings: ClockReadings = systemReadings): Clock {
  const names = { monotonic: true, wall: true, boot: true, schedule: true, isVirtual: true } as const
  checkOptionNames<ClockReadings>('createSystemClock', readings, names)
  const { monotonic, wall, boot, schedule = scheduleTimer, isVirtual = false } = readings
  let offset = wall() - monotonic()
  const bootOffset = boot === undefined ? 0 : leadOf(boot, monotonic).least
  let suspended = 0

  function now(): number {
    const instant = monotonic()
    if (boot === undefined) return instant
    const seen = wall() - instant
    if (Math.abs(seen - offset) > LOOK_ABOVE) {
      offset = seen
      const ahead = leadOf(boot, monotonic).least - bootOffset
      // A difference within the step of the boot clock may be rounding. Above it, one step more is counted: counting too
      // much ends a validity early, which is safe.
      if (ahead > BOOT_STEP) suspended = Math.max(suspended, ahead + BOOT_STEP)
    }
    return instant + suspended
  }

  return { now, schedule, suspended: () => suspended, wall, isVirtual }
}

/**
 * How far the boot clock is ahead of {@link machineTime}, in nanoseconds: it grows by each suspend. `undefined`
 * where the monotonic clock itself goes on during a suspend.
 */
export function bootOffset(): number | undefined {
  const { boot } = systemReadings
  return boot && leadOf(boot, machineTime).least * 1e6
}

/**
 * A timer of Node that does not keep the process alive. A task without a delay runs in the next turn of the event loop, for
 * which the process stays: a timer would take a millisecond, and wake up the process once more.
 */
function scheduleTimer(delay: number, task: () => void): () => void {
  if (delay <= 0) {
    const turn = setImmediate(task)
    return () => clearImmediate(turn)
  }
  let timer: NodeJS.Timeout
  const arm = (left: number): void => {
    const step = Math.min(Math.max(left, 0), MAX_DELAY)
    timer = left > MAX_DELAY ? setTimeout(arm, step, left - step) : setTimeout(task, step)
    timer.unref()
  }
  if (delay !== Number.POSITIVE_INFINITY) arm(delay)
  return () => clearTimeout(timer)
}

/**
 * By how much a clock is ahead of a monotonic one, at least and at most: from the least interrupted of a few readings, or the
 * first that took no longer than `enough` milliseconds.
 */
export function leadOf(
  clock: () => number,
  monotonic: () => number,
  enough = LONGEST_READING,
): { readonly least: number; readonly most: number } {
  let lead = { least: 0, most: 0 }
  let shortest = Number.POSITIVE_INFINITY
  for (let reading = 0; reading < READINGS && shortest > enough; reading += 1) {
    const before = monotonic()
    const read = clock()
    const after = monotonic()
    if (after - before >= shortest) continue
    shortest = after - before
    lead = { least: read - after, most: read - before }
  }
  return lead
}

/** The machine's clock: monotonic, suspend counted, its timers never keep the process alive. */
export const systemClock: Clock = createSystemClock()
