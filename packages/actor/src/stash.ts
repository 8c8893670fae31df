import { callGuarded } from '@leasehold/core/internal'
import type { AnyEventObject } from 'xstate'
import type { DropReason, GuardedPlan } from './lease-guarded-options.js'

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
  /** Whether the event that forwards the next message is in the mailbox. */
  isUnstashing = false
  readonly #plan: GuardedPlan
  readonly #log: (message: string, error: unknown) => void
  #messages: (AnyEventObject | undefined)[]
  /** The number of messages at the start of the array that were removed. */
  #removed = 0

  /** Keeps all restored messages, even if they exceed the capacity. */
  constructor(
    plan: GuardedPlan,
    log: (message: string, error: unknown) => void,
    restored: readonly AnyEventObject[] = [],
  ) {
    this.#plan = plan
    this.#log = log
    this.#messages = [...restored]
  }

  get length(): number {
    return this.#messages.length - this.#removed
  }

  /** Throws a `StashOverflowError` where the stash is full and the policy is to fail. */
  add(event: AnyEventObject): void {
    const { capacity, overflow } = this.#plan
    if (this.length < capacity) {
      this.#messages.push(event)
      return
    }
    const oldest = overflow === 'drop-oldest' ? this.shift() : undefined
    if (oldest !== undefined) this.#messages.push(event)
    this.drop(oldest ?? event, 'overflow')
    if (overflow === 'fail') throw new StashOverflowError(capacity, event.type)
  }

  /** Removes and returns the oldest message. `undefined` if the stash is empty. */
  shift(): AnyEventObject | undefined {
    if (this.length === 0) return undefined
    const oldest = this.#messages[this.#removed]
    this.#messages[this.#removed] = undefined
    this.#removed += 1
    // At least half of the array is free, so that the mean cost of a message is constant.
    if (this.#removed * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#removed)
      this.#removed = 0
    }
    return oldest
  }

  toArray(): AnyEventObject[] {
    return this.#messages.filter((event) => event !== undefined)
  }

  /** Drops a message and calls `onDropped`. */
  drop(event: AnyEventObject, why: DropReason): void {
    callGuarded(
      () => this.#plan.onDropped(event, why),
      (error) => this.#log(`onDropped failed for message '${event.type}'`, error),
    )
  }

  dropAll(why: DropReason): void {
    for (let event = this.shift(); event !== undefined; event = this.shift()) this.drop(event, why)
  }
}
