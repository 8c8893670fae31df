interface SharedListener {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

/**
 * Lets any number of callbacks wait for the same signal behind one listener: Node warns of a leak from the eleventh
 * listener of an `AbortSignal` on, and thousands of waiters may share one signal.
 */
export class AbortListeners {
  readonly #shared = new Map<AbortSignal, SharedListener>()

  /** How many signals are listened to: 0 where nothing was left behind. */
  get size(): number {
    return this.#shared.size
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
    const shared = this.#shared.get(signal) ?? this.#listenTo(signal)
    // A function of its own, so that the same callback can wait twice.
    const entry = (): void => callback()
    shared.callbacks.add(entry)
    return () => this.#remove(signal, shared, entry)
  }

  #listenTo(signal: AbortSignal): SharedListener {
    const callbacks = new Set<() => void>()
    const listener = (): void => {
      this.#shared.delete(signal)
      for (const callback of callbacks) callback()
    }
    const shared = { callbacks, listener }
    this.#shared.set(signal, shared)
    signal.addEventListener('abort', listener, { once: true })
    return shared
  }

  #remove(signal: AbortSignal, shared: SharedListener, callback: () => void): void {
    if (!shared.callbacks.delete(callback) || shared.callbacks.size > 0) return
    this.#shared.delete(signal)
    signal.removeEventListener('abort', shared.listener)
  }
}
