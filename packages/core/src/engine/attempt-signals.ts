import { getEventListeners } from 'node:events'

/** After how many uses a signal is looked at: Node warns of a leak from the eleventh forgotten listener on. */
const USES = 8

/** How many idle signals are kept. */
const KEPT = 1_024

/** The means to end one call to the store. */
export interface Attempt {
  readonly controller: AbortController
  readonly signal: AbortSignal
  uses: number
  /** Whether the controller was told to abort. */
  ended: boolean
}

/**
 * The signals of the calls to one store. To make a signal costs more on Node 20 than a whole acquisition in memory,
 * and almost none of them ever aborts: one that did not serves again, unless a client library forgot a listener on it.
 */
export class AttemptSignals {
  readonly #idle: Attempt[] = []

  take(): Attempt {
    return this.#idle.pop() ?? createAttempt()
  }

  /** Takes back the signal of a call that has answered. */
  give(attempt: Attempt): void {
    if (this.#idle.length >= KEPT || attempt.ended) return
    attempt.uses += 1
    if (attempt.uses % USES === 0 && getEventListeners(attempt.signal, 'abort').length > 0) return
    this.#idle.push(attempt)
  }
}

function createAttempt(): Attempt {
  const controller = new AbortController()
  return { controller, signal: controller.signal, uses: 0, ended: false }
}
