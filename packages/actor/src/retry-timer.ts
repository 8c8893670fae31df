import type { AnyActorScope } from 'xstate'

/** The part of the interval that is left to chance, so that those who were refused together do not return together. */
const JITTER = 0.2

/**
 * One timer on the clock of the actor system. Straight on the clock: XState's scheduler looks through every timer of
 * the whole system whenever an actor stops, so that stopping many that wait would take time in the square of them.
 */
export class RetryTimer {
  #timer: unknown

  /** Runs `task` once, after 80 to 100 % of `interval`, in milliseconds; not where a task is waiting already. */
  arm(scope: AnyActorScope, interval: number, task: () => void): void {
    if (this.#timer !== undefined) return
    this.#timer = scope.system._clock.setTimeout(
      () => {
        this.#timer = undefined
        task()
      },
      interval * (1 - JITTER * Math.random()),
    )
    unref(this.#timer)
  }

  clear(scope: AnyActorScope): void {
    if (this.#timer === undefined) return
    scope.system._clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** XState's default clock hands out Node's timers, which would keep the process alive for nothing but a retry. */
function unref(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return
  if (typeof timer.unref === 'function') timer.unref()
}
