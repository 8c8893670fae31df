import type { AnyEventObject } from 'xstate'
import type { DropReason, GuardPlan } from './guard-options.js'
import { onRejection } from './report.js'
import { RingBuffer } from './ring-buffer.js'
import { StashOverflowError } from './stash-overflow-error.js'

/** The messages that wait for the lease, in order, with what happens when there is no room for more. */
export class Stash {
  readonly #plan: GuardPlan
  readonly #log: (message: string, error: unknown) => void
  readonly #waiting = new RingBuffer<AnyEventObject>()

  /** What is restored is kept whole, whatever the capacity. */
  constructor(
    plan: GuardPlan,
    log: (message: string, error: unknown) => void,
    restored: readonly AnyEventObject[] = [],
  ) {
    this.#plan = plan
    this.#log = log
    for (const event of restored) this.#waiting.push(event)
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Throws a `StashOverflowError` where the stash is full and the policy is to fail. */
  add(event: AnyEventObject): void {
    const { capacity, overflow } = this.#plan
    if (this.length < capacity) {
      this.#waiting.push(event)
      return
    }
    const oldest = overflow === 'drop-oldest' ? this.shift() : undefined
    if (oldest !== undefined) this.#waiting.push(event)
    this.drop(oldest ?? event, 'overflow')
    if (overflow === 'fail') throw new StashOverflowError(capacity, event.type)
  }

  /** Takes out the message whose turn it is; `undefined` where none waits. */
  shift(): AnyEventObject | undefined {
    return this.#waiting.shift()
  }

  toArray(): AnyEventObject[] {
    return this.#waiting.toArray()
  }

  /** Gives up a message and calls `onDropped`. */
  drop(event: AnyEventObject, why: DropReason): void {
    const failed = (error: unknown): void => this.#log(`onDropped failed for message '${event.type}'`, error)
    try {
      onRejection(this.#plan.onDropped(event, why), failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Gives up all that wait. */
  dropAll(why: DropReason): void {
    for (let event = this.shift(); event !== undefined; event = this.shift()) this.drop(event, why)
  }
}
