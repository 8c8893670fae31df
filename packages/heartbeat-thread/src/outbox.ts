/**
 * Sends the messages that are posted in one turn together. A message that cannot be copied to the other thread, because it
 * contains a function, is given to `onRefused`; the others are sent.
 */
export class Outbox<M> {
  readonly #send: (messages: readonly M[]) => void
  readonly #onRefused: (message: M, error: unknown) => void
  #posted: M[] = []

  constructor(send: (messages: readonly M[]) => void, onRefused: (message: M, error: unknown) => void) {
    this.#send = send
    this.#onRefused = onRefused
  }

  post(message: M): void {
    this.#posted.push(message)
    if (this.#posted.length === 1) queueMicrotask(() => this.flush())
  }

  /** Sends the posted messages now. */
  flush(): void {
    const posted = this.#posted
    if (posted.length === 0) return
    this.#posted = []
    try {
      this.#send(posted)
    } catch {
      for (const message of posted) this.#sendOne(message)
    }
  }

  #sendOne(message: M): void {
    try {
      this.#send([message])
    } catch (error) {
      this.#onRefused(message, error)
    }
  }
}
