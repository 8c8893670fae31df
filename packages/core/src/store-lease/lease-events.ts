import { EventEmitter } from 'eventemitter3'
import type { LeaseLost } from '../errors/lease-lost.js'
import type { DurationAdvice } from '../objective/duration-advice.js'
import type { Grant } from '../store/lease-record.js'
import { callGuarded } from '../user-code/guarded-calls.js'

/** The events of a `StoreLease`, and their arguments. */
export interface LeaseEvents {
  acquired: [grant: Grant]
  renewed: [grant: Grant]
  /**
   * A heartbeat failed (`cause`) or is late; `remaining` is the validity left, in milliseconds. Emitted once: heartbeats
   * that fail after it do not emit it again until one was confirmed.
   */
  jeopardy: [jeopardy: { readonly cause?: unknown; readonly remaining: number }]
  recovered: [grant: Grant]
  lost: [lost: LeaseLost]
  released: []
  /**
   * A waiting `acquire` goes on although the store cannot be reached, or fails. Emitted at the first failure of the outage.
   * The logger gets a warning for the first lease of the store, and later ones at growing intervals.
   */
  unreachable: [outage: { readonly cause: unknown }]
  /** The store has answered a waiting `acquire` again. */
  reachable: []
  /**
   * Only with an `objective`: it has chosen other durations, or its forecast now says that it is kept, or not. The logger
   * gets a warning if it is not kept any more, from one lease of the store.
   */
  advised: [advice: DurationAdvice]
  /** An error of a listener or an `onLost` callback, or a failure in the background. */
  error: [error: unknown]
}

type Guarded = (...args: unknown[]) => void

/** Emits the events of one lease. An error of a listener, now or later, is reported; the other listeners still run. */
export class LeaseEventEmitter {
  readonly #emitter = new EventEmitter()
  readonly #guarded = new WeakMap<object, Guarded>()
  readonly #guardedOfErrors = new WeakMap<object, Guarded>()
  readonly #report: (error: unknown) => void
  readonly #log: (error: unknown) => void

  /** `log` gets the errors of `error` listeners, which cannot be reported to themselves. */
  constructor(report: (error: unknown) => void, log: (error: unknown) => void) {
    this.#report = report
    this.#log = log
  }

  /** Adds a listener, for all events or the next one, or removes it. */
  change<E extends keyof LeaseEvents>(
    how: 'on' | 'once' | 'off',
    event: E,
    listener: (...args: LeaseEvents[E]) => void,
  ): void {
    this.#emitter[how](event, this.#guard(event, listener))
  }

  /** Whether anyone listened. */
  emit<E extends keyof LeaseEvents>(event: E, ...args: LeaseEvents[E]): boolean {
    return this.#emitter.emit(event, ...args)
  }

  #guard<E extends keyof LeaseEvents>(event: E, listener: (...args: LeaseEvents[E]) => void): Guarded {
    const known = event === 'error' ? this.#guardedOfErrors : this.#guarded
    const report = event === 'error' ? this.#log : this.#report
    let guarded = known.get(listener)
    if (guarded === undefined) {
      guarded = (...args) => callGuarded(() => listener(...(args as LeaseEvents[E])), report)
      known.set(listener, guarded)
    }
    return guarded
  }
}
