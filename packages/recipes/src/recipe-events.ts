import { defaultLogger, type Logger } from '@leasehold/core'
import { EventEmitter } from 'eventemitter3'
import { callGuarded, report } from './report.js'

/** Emits the events of one recipe. The error of a listener is reported; the other listeners still run. */
export class RecipeEvents<Events extends Record<keyof Events, unknown[]>> {
  readonly #emitter = new EventEmitter()
  readonly #subject: string
  readonly #logger: Logger
  readonly #onFailed: (event: string, error: unknown) => void

  /** `onFailed` gets the error of a listener. Unless given, that is an `error` event, or is logged if it was of one. */
  constructor(
    subject: string,
    logger: Logger = defaultLogger,
    onFailed = (event: string, error: unknown): void => (event === 'error' ? this.#log(error) : this.report(error)),
  ) {
    this.#subject = subject
    this.#logger = logger
    this.#onFailed = onFailed
  }

  on<E extends keyof Events & string>(event: E, listener: (...args: Events[E]) => void): void {
    this.#emitter.on(event, listener)
  }

  off<E extends keyof Events & string>(event: E, listener: (...args: Events[E]) => void): void {
    this.#emitter.off(event, listener)
  }

  emit<E extends keyof Events & string>(event: E, ...args: Events[E]): void {
    this.#emit(event, args)
  }

  /** Emits `error`. Without a listener, the logger gets the error. */
  readonly report = (error: unknown): void => {
    if (this.#emitter.listenerCount('error') > 0) this.#emit('error', [error])
    else this.#log(error)
  }

  /**
   * Emits `error`. Without a listener, the logger gets one line, because the same failure may come again. Without an error,
   * the logger gets the line in any case.
   */
  readonly reportLine = (line: string, error?: unknown): void => {
    if (error !== undefined && this.#emitter.listenerCount('error') > 0) this.#emit('error', [error])
    else report(this.#logger, 'warn', `${this.#subject}: ${line}`, undefined)
  }

  #emit(event: string, args: readonly unknown[]): void {
    for (const listener of this.#emitter.listeners(event)) {
      callGuarded(
        () => listener(...args),
        (error) => this.#onFailed(event, error),
      )
    }
  }

  #log(error: unknown): void {
    report(this.#logger, 'error', `${this.#subject}: an error in the background`, error)
  }
}
