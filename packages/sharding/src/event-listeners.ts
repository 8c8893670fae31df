import type { Logger } from '@leasehold/core'
import { callGuarded, logSafely } from '@leasehold/core/internal'

type Listener = (...args: unknown[]) => unknown

/** The listeners of an object. One that throws costs only its own call: the error is an `error` event. */
export class EventListeners<Events extends Record<keyof Events, unknown[]> & { error: [error: unknown] }> {
  readonly #listeners = new Map<PropertyKey, Set<Listener>>()
  readonly #subject: string
  readonly #logger: Logger

  /** `subject`: the object, in the lines of the logger. */
  constructor(subject: string, logger: Logger) {
    this.#subject = subject
    this.#logger = logger
  }

  on<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener as Listener))
  }

  off<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): void {
    this.#listeners.get(event)?.delete(listener as Listener)
  }

  emit<E extends keyof Events>(event: E, ...args: Events[E]): void {
    const onError = (error: unknown): void => {
      if (event === 'error') logSafely(this.#logger, 'error', `${this.#subject}: a listener of 'error' failed`, error)
      else this.report(error, `a listener of '${String(event)}' failed`)
    }
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      callGuarded(() => listener(...args), onError)
    }
  }

  /** Emits `error`. Without a listener, the logger gets the error. */
  readonly report = (error: unknown, message = 'an error in the background'): void => {
    const hasListener = (this.#listeners.get('error')?.size ?? 0) > 0
    if (hasListener) this.emit('error', ...([error] as Events['error']))
    else logSafely(this.#logger, 'error', `${this.#subject}: ${message}`, error)
  }
}
