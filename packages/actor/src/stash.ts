import type { AnyEventObject } from 'xstate'
import type { DropReason, GuardedPlan } from './lease-guarded-options.js'
import { onRejection } from './report.js'
import { RingBuffer } from './ring-buffer.js'

/** The error of a guarded actor that receives a message while its stash is full, with the overflow policy `fail`. */
export class StashOverflowError extends Error {
  override readonly name = 'StashOverflowError'
  /** The maximum number of stashed messages. */
  readonly capacity: number

  constructor(capacity: number, type: string) {
    super(
      `the stash is full (${capacity} messages) and cannot take message '${type}': raise stash.capacity or change stash.overflow`,
    )
    this.capacity = capacity
  }
}

/** The messages that wait for the lease, in order. Applies the overflow policy when it is full. */
export class Stash {
  readonly #plan: GuardedPlan
  readonly #log: (message: string, error: unknown) => void
  readonly #waiting = new RingBuffer<AnyEventObject>()

  /** Keeps all restored messages, even if they exceed the capacity. */
  constructor(
    plan: GuardedPlan,
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

  /** Removes and returns the oldest message. `undefined` if the stash is empty. */
  shift(): AnyEventObject | undefined {
    return this.#waiting.shift()
  }

  toArray(): AnyEventObject[] {
    return this.#waiting.toArray()
  }

  /** Drops a message and calls `onDropped`. */
  drop(event: AnyEventObject, why: DropReason): void {
    const failed = (error: unknown): void => this.#log(`onDropped failed for message '${event.type}'`, error)
    try {
      onRejection(this.#plan.onDropped(event, why), failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Drops all messages. */
  dropAll(why: DropReason): void {
    for (let event = this.shift(); event !== undefined; event = this.shift()) this.drop(event, why)
  }
}
