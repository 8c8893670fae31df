import type { AbortListeners } from '../abort-listeners.js'
import type { Clock } from '../clock.js'

/** A run that waits until the runs before it have ended. */
interface WaitingRun {
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

/** Lets the runs of one lease take turns: first come, first served, one at a time. */
export class RunQueue {
  readonly #clock: Clock
  readonly #aborts: AbortListeners
  readonly #waiting = new Set<WaitingRun>()
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
    if (this.tryEnter()) return true
    if (wait === 0) return false
    let waiting: WaitingRun | undefined
    let cancel = (): void => {}
    let unlisten = (): void => {}
    try {
      return await new Promise<boolean>((resolve, reject) => {
        waiting = { start: () => resolve(true), reject }
        this.#waiting.add(waiting)
        if (wait !== Number.POSITIVE_INFINITY) cancel = this.#clock.schedule(wait, () => this.#giveUp(waiting, resolve))
        if (signal !== undefined) unlisten = this.#aborts.add(signal, () => this.#abort(waiting, reject, signal))
      })
    } finally {
      cancel()
      unlisten()
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
    next.start()
  }

  /** Rejects all runs that wait. */
  rejectAll(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
  }

  #giveUp(waiting: WaitingRun | undefined, resolve: (entered: boolean) => void): void {
    if (waiting !== undefined && this.#waiting.delete(waiting)) resolve(false)
  }

  #abort(waiting: WaitingRun | undefined, reject: (error: unknown) => void, signal: AbortSignal): void {
    if (waiting !== undefined && this.#waiting.delete(waiting)) reject(signal.reason)
  }
}
