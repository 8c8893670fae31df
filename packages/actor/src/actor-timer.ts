import type { AnyActorScope } from 'xstate'
import { report } from './report.js'

/** Notified by an {@link ActorTimer}. */
export interface TimerListener {
  /** The actor whose clock counts the time. */
  readonly scope: AnyActorScope
  onTimeUp(): void
}

/**
 * Calls its listener once after a delay.
 *
 * It uses the clock of the actor system, not XState's scheduler: the scheduler searches all timers of the system each
 * time an actor stops, so stopping many waiting actors would take quadratic time. As with XState's own delays, a process with
 * its default clock stays alive until the time is up.
 */
export class ActorTimer {
  readonly #listener: TimerListener
  #timer: unknown
  #isArmed = false

  constructor(listener: TimerListener) {
    this.#listener = listener
  }

  /** `delay` is in milliseconds. Does nothing if the timer is already armed. Rethrows errors of the clock. */
  arm(delay: number): void {
    if (this.#isArmed) return
    this.#isArmed = true
    // A bound function takes half the memory of an arrow function. Every waiting actor has one.
    this.#timer = this.#listener.scope.system._clock.setTimeout(this.#fire.bind(this), delay)
  }

  /** Never throws, because the end of an actor must not depend on its clock. Logs errors of the clock. */
  disarm(): void {
    if (!this.#isArmed) return
    this.#isArmed = false
    try {
      this.#listener.scope.system._clock.clearTimeout(this.#timer)
    } catch (error) {
      report(this.#listener.scope, 'a timer of a guarded actor could not be cleared', error)
    }
  }

  #fire(): void {
    // A custom clock may call back twice, or after the timer was cleared.
    if (!this.#isArmed) return
    this.#isArmed = false
    this.#listener.onTimeUp()
  }
}
