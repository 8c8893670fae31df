/**
 * Lets any number of callbacks wait for the same signal behind one listener: Node warns of a leak from the eleventh
 * listener of an `AbortSignal` on, and thousands of waiters may share one signal.
 */
export class AbortListeners {
  readonly #callbacks = new Map<EventTarget, Set<() => void>>()
  readonly #onAbort = ({ target: signal }: Event): void => {
    if (signal === null) return
    // A callback may remove another one before its turn.
    for (const callback of this.#callbacks.get(signal) ?? []) callback()
    this.#callbacks.delete(signal)
  }

  /** How many signals are listened to: 0 where nothing was left behind. */
  get size(): number {
    return this.#callbacks.size
  }

  /**
   * Calls `callback` once when the signal aborts, or at once if it already has. Returns a function that removes it.
   * The callback must not throw.
   */
  add(signal: AbortSignal, callback: () => void): () => void {
    if (signal.aborted) {
      callback()
      return () => {}
    }
    let callbacks = this.#callbacks.get(signal)
    if (callbacks === undefined) {
      callbacks = new Set()
      this.#callbacks.set(signal, callbacks)
      signal.addEventListener('abort', this.#onAbort, { once: true })
    }
    // A function of its own, so that the same callback can wait twice.
    const entry = (): void => callback()
    callbacks.add(entry)
    return () => this.#remove(signal, entry)
  }

  #remove(signal: AbortSignal, callback: () => void): void {
    const callbacks = this.#callbacks.get(signal)
    if (callbacks?.delete(callback) !== true || callbacks.size > 0) return
    this.#callbacks.delete(signal)
    signal.removeEventListener('abort', this.#onAbort)
  }
}
