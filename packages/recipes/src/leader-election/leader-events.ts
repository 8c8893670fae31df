import { defaultLogger, type LeaseLost, type Logger } from '@leasehold/core'
import { EventEmitter } from 'eventemitter3'

/** The events of a `LeaderElection`, and their arguments. A term that was `elected` ends as `resigned` or as `lost`. */
export interface LeaderEvents {
  elected: [term: bigint]
  /** The term has ended: its work is over, and the lease was released. */
  resigned: [term: bigint]
  /** The lease was lost. Its work may go on until it notices. */
  lost: [term: bigint, lost: LeaseLost]
  /** An error of `onElected` or of a listener, or a failure in the background. */
  error: [error: unknown]
}

export type LeaderListener<E extends keyof LeaderEvents> = (...args: LeaderEvents[E]) => void

type Guarded = (...args: unknown[]) => void

/** Emits the events of one election. An error of a listener is reported; the other listeners still run. */
export class LeaderEventEmitter {
  readonly #emitter = new EventEmitter()
  readonly #guarded = new WeakMap<object, Guarded>()
  readonly #guardedOfErrors = new WeakMap<object, Guarded>()
  readonly #name: string
  readonly #logger: Logger

  constructor(name: string, logger: Logger = defaultLogger) {
    this.#name = name
    this.#logger = logger
  }

  on<E extends keyof LeaderEvents>(event: E, listener: LeaderListener<E>): void {
    this.#emitter.on(event, this.#guard(event, listener))
  }

  off<E extends keyof LeaderEvents>(event: E, listener: LeaderListener<E>): void {
    this.#emitter.off(event, this.#guard(event, listener))
  }

  emit<E extends Exclude<keyof LeaderEvents, 'error'>>(event: E, ...args: LeaderEvents[E]): void {
    this.#emitter.emit(event, ...args)
  }

  /** Emits `error`. Without a listener, the logger gets the error. */
  readonly report = (error: unknown): void => {
    if (!this.#emitter.emit('error', error)) this.#log(error)
  }

  #guard<E extends keyof LeaderEvents>(event: E, listener: LeaderListener<E>): Guarded {
    const isOfErrors = event === 'error'
    const known = isOfErrors ? this.#guardedOfErrors : this.#guarded
    let guarded = known.get(listener)
    if (guarded === undefined) {
      // An error of an `error` listener cannot be reported to itself.
      const onError = isOfErrors ? (error: unknown) => this.#log(error) : this.report
      guarded = (...args) => callGuarded(() => listener(...(args as LeaderEvents[E])), onError)
      known.set(listener, guarded)
    }
    return guarded
  }

  #log(error: unknown): void {
    const message = `election '${this.#name}': an error in the background`
    callGuarded(
      () => this.#logger.error(message, error),
      () => defaultLogger.error(`${message} (the logger failed)`, error),
    )
  }
}

/** Calls user code. An error that it throws, or that its promise rejects with, goes to `onError`. */
function callGuarded(call: () => unknown, onError: (error: unknown) => void): void {
  void (async () => await call())().catch(onError)
}
