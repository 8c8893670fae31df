import { getEventListeners } from 'node:events'
import { defaultLogger } from '../user-code/logger.js'

/** One attempt of one operation, as a store sees it. A call is made for this attempt and is never used for another. */
export interface StoreCall {
  /** How long the attempt may take, in milliseconds; `Infinity` for a watch. When the time is up, the call is aborted. */
  readonly timeout: number
  /** Whether the attempt was given up. */
  readonly aborted: boolean
  /** Aborted when the attempt is given up. It is created when it is first read: prefer {@link StoreCall.onAbort}. */
  readonly signal: AbortSignal
  /**
   * Calls `listener` once when the attempt is given up, or at once if it already was. Returns a function that removes the
   * listener. This costs far less than a listener on `signal`.
   */
  onAbort(listener: () => void): () => void
}

/** A {@link StoreCall} and the means to abort it. */
export class AbortableCall implements StoreCall {
  readonly timeout: number
  #controller: AbortController | undefined
  /** Most calls have one listener: a set for it would cost more than the rest of the call. */
  #listener: (() => void) | undefined
  /** The further listeners. */
  #others: Set<() => void> | undefined
  #aborted = false
  #reason: unknown

  /** `timeout` tells the store how long the attempt may take, in milliseconds. It starts no timer. */
  constructor(timeout = Number.POSITIVE_INFINITY) {
    this.timeout = timeout
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  onAbort(listener: () => void): () => void {
    if (this.#aborted) {
      listener()
      return () => {}
    }
    // A function of its own, so that one listener can be added twice.
    const entry = (): void => listener()
    if (this.#listener === undefined) {
      this.#listener = entry
      return () => {
        if (this.#listener === entry) this.#listener = undefined
      }
    }
    this.#others ??= new Set()
    this.#others.add(entry)
    return () => this.#others?.delete(entry)
  }

  /** How many listeners the store has left on the call or on its signal: for tests. */
  get listeners(): number {
    const onSignal = this.#controller === undefined ? [] : getEventListeners(this.#controller.signal, 'abort')
    return (this.#listener === undefined ? 0 : 1) + (this.#others?.size ?? 0) + onSignal.length
  }

  /** Gives the attempt up. `reason` becomes the reason of the signal. Has no effect the second time. */
  abort(reason?: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    const listeners = [this.#listener, ...(this.#others ?? [])]
    this.#listener = undefined
    this.#others = undefined
    this.#controller?.abort(reason)
    for (const listener of listeners) {
      try {
        listener?.()
      } catch (error) {
        // The other listeners still run.
        defaultLogger.error('a store threw an error when a call was aborted', error)
      }
    }
  }
}
