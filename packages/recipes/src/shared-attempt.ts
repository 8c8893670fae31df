import type { AcquireOptions, Clock, LeaseLost, Metadata } from '@leasehold/core'
import { Caller, SharedCallers } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { aborts } from './first-abort.js'

/** The answer to a caller of `acquire`. */
type Outcome = { readonly isHeld: boolean } | { readonly error: unknown }

/** The callers that share one attempt at a lease made of other leases, each for as long as it asked for. */
export class SharedAttempt extends SharedCallers {
  /** Aborted when the last caller has given up, or the attempt was withdrawn. */
  readonly call: AbortableCall
  readonly #clock: Clock

  constructor(clock: Clock) {
    const call = new AbortableCall()
    super(call)
    this.call = call
    this.#clock = clock
  }

  /** When the caller that waits longest gives up. */
  get until(): number {
    return Math.max(...this.all.map(({ until }) => until))
  }

  /** For how long the caller that waits longest still waits, in milliseconds. */
  get remaining(): number {
    return Math.max(0, this.until - this.#clock.now())
  }

  /** The metadata of the first caller that gave any. */
  get metadata(): Metadata | undefined {
    return this.all.find(({ options }) => options.metadata !== undefined)?.options.metadata
  }

  get callbacks(): ((lost: LeaseLost) => void)[] {
    return this.all.flatMap(({ options: { onLost } }) => onLost ?? [])
  }

  join(options: AcquireOptions): Caller {
    const caller = new Caller(options, this.#clock.now() + (options.wait ?? 0), this.#clock)
    this.add(caller, aborts)
    return caller
  }

  /** Answers these callers, which were taken out before, or all callers that are left. */
  settle(outcome: Outcome, callers = this.takeAll()): void {
    for (const caller of callers) {
      if ('error' in outcome) caller.reject(outcome.error)
      else caller.resolve(outcome.isHeld)
    }
  }
}
