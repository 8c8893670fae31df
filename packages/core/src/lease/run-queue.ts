import type { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import { Deferred } from '../time/deferred.js'

/** Lets the runs of one lease take turns: first come, first served, one at a time. */
export class RunQueue {
  readonly #clock: Clock
  readonly #aborts: AbortListeners
  readonly #waiting = new Set<Deferred<boolean>>()
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
   * Waits for the turn for at most `wait` milliseconds. Resolves `false` if the time ran out, and rejects with the reason
   * of the signal if it aborts; the caller then has no turn to pass on.
   */
  async enter(wait: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (wait === 0) return false
    const turn = new Deferred<boolean>()
    this.#waiting.add(turn)
    let cancel: (() => void) | undefined
    let unlisten: (() => void) | undefined
    if (wait !== Number.POSITIVE_INFINITY) {
      cancel = this.#clock.schedule(wait, () => {
        this.#waiting.delete(turn)
        turn.resolve(false)
      })
    }
    if (signal !== undefined) {
      unlisten = this.#aborts.add(signal, () => {
        this.#waiting.delete(turn)
        turn.reject(signal.reason)
      })
    }
    try {
      return await turn.promise
    } finally {
      cancel?.()
      unlisten?.()
    }
  }

  /** Passes the turn to the run that has waited longest. */
  leave(): void {
    const next = this.#waiting.values().next().value
    if (next === undefined) {
      this.#isTaken = false
      return
    }
    this.#waiting.delete(next)
    next.resolve(true)
  }

  rejectAll(error: unknown): void {
    for (const turn of this.#waiting) turn.reject(error)
    this.#waiting.clear()
  }
}
