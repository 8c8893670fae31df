import type { AnyActorScope } from 'xstate'

/** The part of the interval that is left to chance, so that those who were refused together do not return together. */
const JITTER = 0.2

/**
 * Runs `task` once, after 80 to 100 % of `interval`, in milliseconds, and returns what {@link clearRetry} takes.
 *
 * Straight on the clock of the actor system: XState's scheduler looks through every timer of the whole system whenever
 * an actor stops, so that stopping many that wait would take time in the square of them.
 */
export function armRetry(scope: AnyActorScope, interval: number, task: () => void): unknown {
  // In whole milliseconds, so that timers of the same length share a list of Node's.
  const delay = Math.ceil(interval * (1 - JITTER * Math.random()))
  const timer: unknown = scope.system._clock.setTimeout(task, delay)
  unref(timer)
  return timer
}

export function clearRetry(scope: AnyActorScope, timer: unknown): void {
  scope.system._clock.clearTimeout(timer)
}

/** XState's default clock hands out Node's timers, which would keep the process alive for nothing but a retry. */
function unref(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return
  if (typeof timer.unref === 'function') timer.unref()
}
