import type { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import type { AcquireOptions } from './acquire-options.js'
import { Caller, SharedCallers } from './shared-callers.js'

/** Lets the runs of one lease take turns: first come, first served, one at a time. */
export class RunQueue {
  readonly #clock: Clock
  readonly #aborts: AbortListeners
  readonly #waiting = new SharedCallers()
  #isTaken = false

  constructor(clock: Clock, aborts: AbortListeners) {
    this.#clock = clock
    this.#aborts = aborts
  }

  /** Takes the turn if no other run has it or waits for it. */
  tryEnter(): boolean {
    if (this.#isTaken) return false
    this.#isTaken = true
    return true
  }

  /**
   * Waits for the turn, for as long as the options say. Resolves `false` if the time ran out, and rejects with the reason
   * of the signal if it aborts; the caller then has no turn to pass on.
   */
  async enter(options: AcquireOptions): Promise<boolean> {
    const { wait = 0 } = options
    if (wait === 0) return false
    const caller = new Caller(options, this.#clock.now() + wait, this.#clock)
    this.#waiting.limit(caller, wait, this.#clock)
    this.#waiting.add(caller, this.#aborts)
    return await caller.promise
  }

  /** Passes the turn to the run that has waited longest. */
  leave(): void {
    const next = this.#waiting.takeFirst()
    if (next === undefined) this.#isTaken = false
    else next.resolve(true)
  }

  rejectAll(error: unknown): void {
    for (const caller of this.#waiting.takeAll()) caller.reject(error)
  }
}
