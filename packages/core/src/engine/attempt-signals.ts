/** How many attempts one signal serves: a client library that forgets its listeners must not pile them up. */
const USES = 8

/** How many idle signals are kept. */
const KEPT = 64

/** The means to end one call to the store. */
export interface Attempt {
  readonly controller: AbortController
  uses: number
}

/**
 * The signals of the calls to one store. To make a signal costs more on Node 20 than a whole acquisition in memory,
 * and almost none of them ever aborts: one that did not serves again.
 */
export class AttemptSignals {
  readonly #idle: Attempt[] = []

  take(): Attempt {
    return this.#idle.pop() ?? { controller: new AbortController(), uses: 0 }
  }

  /** Takes back the signal of a call that has answered. */
  give(attempt: Attempt): void {
    attempt.uses += 1
    if (attempt.uses >= USES || this.#idle.length >= KEPT || attempt.controller.signal.aborted) return
    this.#idle.push(attempt)
  }
}
