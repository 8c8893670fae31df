import { defaultLogger, type LeaseLost, type Logger } from '@leasehold/core'
import { EventEmitter } from 'eventemitter3'
import { callReported, report } from '../report.js'

/** The events of a `LeaseManager`, and their arguments. */
export interface LeaseManagerEvents {
  /** A lease was lost: once for each grant. */
  lost: [name: string, lost: LeaseLost]
  /** A failure in the background. Without a listener, the logger gets it. */
  error: [error: unknown]
}

export type LeaseManagerListener<E extends keyof LeaseManagerEvents> = (...args: LeaseManagerEvents[E]) => void

/** Emits the events of one manager. The error of a listener is logged, and the other listeners are still called. */
export class ManagerEventEmitter {
  readonly #emitter = new EventEmitter()
  readonly #logger: Logger

  constructor(logger: Logger = defaultLogger) {
    this.#logger = logger
  }

  on<E extends keyof LeaseManagerEvents>(event: E, listener: LeaseManagerListener<E>): void {
    this.#emitter.on(event, listener)
  }

  off<E extends keyof LeaseManagerEvents>(event: E, listener: LeaseManagerListener<E>): void {
    this.#emitter.off(event, listener)
  }

  emit<E extends keyof LeaseManagerEvents>(event: E, ...args: LeaseManagerEvents[E]): void {
    const listeners = this.#emitter.listeners(event)
    for (const listener of listeners) {
      callReported(this.#logger, `LeaseManager: a listener of '${event}' failed`, () => listener(...args))
    }
    if (event === 'error' && listeners.length === 0) {
      report(this.#logger, 'error', 'LeaseManager: an error in the background', args[0])
    }
  }
}
