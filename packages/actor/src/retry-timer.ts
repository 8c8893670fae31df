import type { AnyActorScope } from 'xstate'
import { report } from './report.js'

/** The part of the interval that is left to chance, so that those who were refused together do not return together. */
const JITTER = 0.2

/** What the timer calls. */
export interface RetryListener {
  onRetry(): void
}

/**
 * Calls its listener after 80 to 100 % of an interval, once for each time that it is armed.
 *
 * Straight on the clock of the actor system: XState's scheduler looks through every timer of the whole system whenever
 * an actor stops, so that stopping many that wait would take time in the square of them.
 */
export class RetryTimer {
  readonly #listener: RetryListener
  #timer: unknown
  #isArmed = false

  constructor(listener: RetryListener) {
    this.#listener = listener
  }

  /** `interval` is in milliseconds. Does nothing where it is armed already; throws what the clock throws. */
  arm(scope: AnyActorScope, interval: number): void {
    if (this.#isArmed) return
    // In whole milliseconds, so that timers of the same length share a list of Node's.
    const delay = Math.ceil(interval * (1 - JITTER * Math.random()))
    this.#isArmed = true
    // Bound, not an arrow: half the weight, in what most of the guards that wait have.
    this.#timer = scope.system._clock.setTimeout(this.#fire.bind(this), delay)
    unref(this.#timer)
  }

  /** Never throws: what waits for the end of an actor must not depend on its clock. */
  disarm(scope: AnyActorScope): void {
    if (!this.#isArmed) return
    this.#isArmed = false
    try {
      scope.system._clock.clearTimeout(this.#timer)
    } catch (error) {
      report(scope, 'the retry timer of a guarded actor could not be cleared', error)
    }
  }

  #fire(): void {
    // A clock of the user's own may call back twice, or after the timer was cleared.
    if (!this.#isArmed) return
    this.#isArmed = false
    this.#listener.onRetry()
  }
}

/** XState's default clock hands out Node's timers, which would keep the process alive for nothing but a retry. */
function unref(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return
  if (typeof timer.unref === 'function') timer.unref()
}
