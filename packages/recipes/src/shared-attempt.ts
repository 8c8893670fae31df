import type { AcquireOptions, Clock, LeaseLost, Metadata } from '@leasehold/core'
import { Deferred, keepAlive } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { aborts } from './first-abort.js'

/** The answer to a caller of `acquire`. */
type Outcome = { readonly isHeld: boolean } | { readonly error: unknown }

/** One caller of `acquire`. */
interface Caller {
  /** When it gives up. */
  readonly until: number
  readonly options: AcquireOptions
  readonly answered: Deferred<boolean>
  readonly endKeeping: () => void
  unlisten?: (() => void) | undefined
  cancel?: () => void
}

/** The callers that share one attempt. Each waits for as long as it asked for, and until its own signal aborts. */
export class SharedAttempt {
  /** Aborted when the last caller has given up, or the attempt was withdrawn. */
  readonly call = new AbortableCall()
  readonly #clock: Clock
  readonly #callers = new Set<Caller>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get callers(): readonly Caller[] {
    return [...this.#callers]
  }

  get isEmpty(): boolean {
    return this.#callers.size === 0
  }

  /** When the caller that waits longest gives up. */
  get until(): number {
    return Math.max(...this.callers.map(({ until }) => until))
  }

  /** For how long that caller still waits, in milliseconds. */
  get remaining(): number {
    return Math.max(0, this.until - this.#clock.now())
  }

  /** That of the first caller that gave any. */
  get metadata(): Metadata | undefined {
    return this.callers.find(({ options }) => options.metadata !== undefined)?.options.metadata
  }

  get callbacks(): ((lost: LeaseLost) => void)[] {
    return this.callers.flatMap(({ options: { onLost } }) => onLost ?? [])
  }

  add(options: AcquireOptions): Caller {
    const { wait = 0, signal } = options
    const until = this.#clock.now() + wait
    const caller: Caller = { until, options, answered: new Deferred(), endKeeping: keepAlive(this.#clock) }
    this.#callers.add(caller)
    caller.unlisten = signal && aborts.add(signal, () => this.#giveUp(caller, { error: signal.reason }))
    return caller
  }

  /** Ends the wait of one caller `grace` milliseconds after its time: the attempt itself goes on for the others. */
  limit(caller: Caller, grace: number): void {
    if (caller.cancel !== undefined || caller.until === Number.POSITIVE_INFINITY) return
    const delay = Math.max(0, caller.until - this.#clock.now() + grace)
    caller.cancel = this.#clock.schedule(delay, () => this.#giveUp(caller, { isHeld: false }))
  }

  /** Answers these callers, which is the end of their wait; all unless given. */
  settle(outcome: Outcome, callers = this.callers): void {
    for (const caller of callers) {
      this.#callers.delete(caller)
      caller.cancel?.()
      caller.unlisten?.()
      caller.endKeeping()
      if ('error' in outcome) caller.answered.reject(outcome.error)
      else caller.answered.resolve(outcome.isHeld)
    }
  }

  #giveUp(caller: Caller, outcome: Outcome): void {
    this.settle(outcome, [caller])
    if (this.isEmpty) this.call.abort()
  }
}
