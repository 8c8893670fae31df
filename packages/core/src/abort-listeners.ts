interface Listeners {
  readonly callbacks: Set<() => void>
  readonly onAbort: () => void
}

/**
 * Listens to any number of signals for any number of callers, with one listener a signal: Node warns of a leak when a
 * signal that many share, such as that of a process going down, gets more than ten.
 */
export class AbortListeners {
  readonly #bySignal = new Map<AbortSignal, Listeners>()

  /** How many signals are listened to: 0 where nothing was left behind. */
  get size(): number {
    return this.#bySignal.size
  }

  /** Calls `callback` once when the signal aborts, at once if it has; returns what stops listening. */
  add(signal: AbortSignal, callback: () => void): () => void {
    if (signal.aborted) {
      callback()
      return () => {}
    }
    const listeners = this.#bySignal.get(signal) ?? this.#listenTo(signal)
    // A set of its own function, for one callback may be given twice.
    const entry = (): void => callback()
    listeners.callbacks.add(entry)
    return () => {
      listeners.callbacks.delete(entry)
      if (listeners.callbacks.size === 0) this.#stop(signal, listeners)
    }
  }

  #listenTo(signal: AbortSignal): Listeners {
    const callbacks = new Set<() => void>()
    const onAbort = (): void => {
      this.#bySignal.delete(signal)
      for (const callback of callbacks) callback()
      callbacks.clear()
    }
    const listeners = { callbacks, onAbort }
    this.#bySignal.set(signal, listeners)
    signal.addEventListener('abort', onAbort, { once: true })
    return listeners
  }

  #stop(signal: AbortSignal, listeners: Listeners): void {
    if (this.#bySignal.get(signal) !== listeners) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', listeners.onAbort)
  }
}
