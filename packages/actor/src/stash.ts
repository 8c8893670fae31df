import type { AnyEventObject } from 'xstate'
import type { DropReason, GuardPlan } from './guard-options.js'
import { RingBuffer } from './ring-buffer.js'
import { StashOverflowError } from './stash-overflow-error.js'

/** The messages that wait for the lease, in order, with what happens when there is no room for more. */
export class Stash {
  readonly #plan: GuardPlan
  readonly #log: (message: string, error: unknown) => void
  /** Made for the first message: most guards never see one before they hold their lease. */
  #waiting: RingBuffer<AnyEventObject> | undefined

  /** What is restored is kept whole, whatever the capacity. */
  constructor(
    plan: GuardPlan,
    restored: readonly AnyEventObject[] | undefined,
    log: (message: string, error: unknown) => void,
  ) {
    this.#plan = plan
    this.#log = log
    for (const event of restored ?? []) this.#push(event)
  }

  get length(): number {
    return this.#waiting?.length ?? 0
  }

  /** Throws a `StashOverflowError` where the stash is full and the policy is to fail. */
  add(event: AnyEventObject): void {
    const { capacity, overflow } = this.#plan
    if (this.length < capacity) {
      this.#push(event)
      return
    }
    const oldest = overflow === 'drop-oldest' ? this.shift() : undefined
    if (oldest !== undefined) this.#push(event)
    this.drop(oldest ?? event, 'overflow')
    if (overflow === 'fail') throw new StashOverflowError(capacity, event.type)
  }

  /** Takes out the message whose turn it is; `undefined` where none waits. */
  shift(): AnyEventObject | undefined {
    return this.#waiting?.shift()
  }

  toArray(): AnyEventObject[] {
    return this.#waiting?.toArray() ?? []
  }

  /** Gives up a message; whoever wants to know is told. */
  drop(event: AnyEventObject, why: DropReason): void {
    try {
      this.#plan.onDropped(event, why)
    } catch (error) {
      this.#log(`onDropped failed for message '${event.type}'`, error)
    }
  }

  /** Gives up all that wait. */
  dropAll(why: DropReason): void {
    for (let event = this.shift(); event !== undefined; event = this.shift()) this.drop(event, why)
  }

  #push(event: AnyEventObject): void {
    this.#waiting ??= new RingBuffer()
    this.#waiting.push(event)
  }
}
