import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'

/** Receives errors that user code threw, and reports of values that are not valid. It must not throw. */
type Report = (error: unknown) => void

/** Calls user code. An error that it throws, or that its promise rejects with, goes to `report`. */
export function callGuarded(call: () => unknown, report: Report): void {
  try {
    const result = call()
    if (isThenable(result)) Promise.resolve(result).then(undefined, report)
  } catch (error) {
    report(error)
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
  } catch {
    // A getter or a proxy that throws: who awaits the value gets the error.
    return true
  }
}

/** Calls user code that must answer at once. If it answers with a promise instead, a rejection of that is reported. */
export function readGuarded(read: () => unknown, report: (error: unknown) => void): unknown {
  let value: unknown
  callGuarded(() => {
    value = read()
    return value
  }, report)
  return value
}

/**
 * A clock of the user that fails safely: while it has no valid time, the time is `Infinity`, so that every validity is
 * over; a timer that it cannot schedule runs on the system clock.
 */
export function guardClock(clock: Clock, report: (error: unknown) => void): Clock {
  if (clock === systemClock) return clock
  return {
    now: () => numberFrom(() => clock.now(), 'clock.now()', report) ?? Number.POSITIVE_INFINITY,
    isVirtual: clock.isVirtual === true,
    suspended: () => numberFrom(() => clock.suspended?.() ?? 0, 'clock.suspended()', report) ?? 0,
    ...(clock.wall && { wall: () => numberFrom(() => clock.wall?.(), 'clock.wall()', report) ?? Number.NaN }),
    schedule: (delay, task) => {
      try {
        const cancel: unknown = clock.schedule(delay, task)
        if (typeof cancel === 'function') return () => callGuarded(() => cancel(), report)
        report(new LeaseConfigurationError(`clock.schedule() must return a function, not ${shownValue(cancel)}`))
        return () => {}
      } catch (error) {
        report(error)
        return systemClock.schedule(delay, task)
      }
    },
  }
}

/** The random numbers of a source that the user gave; 0.5 if the source fails. */
export function guardRandom(random: () => number, report: (error: unknown) => void): () => number {
  return () => {
    const drawn = numberFrom(random, 'random()', report)
    if (drawn === undefined) return 0.5
    if (drawn >= 0 && drawn <= 1) return drawn
    report(new LeaseConfigurationError(`random() must return a number from 0 to 1, not ${drawn}`))
    return 0.5
  }
}

function numberFrom(read: () => unknown, source: string, report: Report): number | undefined {
  let value: unknown
  try {
    value = read()
  } catch (error) {
    report(error)
  }
  if (typeof value === 'number' && !Number.isNaN(value)) return value
  // Reports the rejection of a promise.
  callGuarded(() => value, report)
  report(new LeaseConfigurationError(`${source} must return a number, not ${shownValue(value)}`))
  return undefined
}
