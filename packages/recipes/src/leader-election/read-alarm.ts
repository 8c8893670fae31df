import type { Clock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { pauseUntil } from '../waiting.js'

/** Waits between two reads. */
export class ReadAlarm {
  readonly #clock: Clock
  readonly #call: AbortableCall
  #rung = new AbortableCall()

  constructor(clock: Clock, call: AbortableCall) {
    this.#clock = clock
    this.#call = call
    call.onAbort(() => this.ring())
  }

  ring(): void {
    this.#rung.abort()
  }

  /** Until `longest` milliseconds after `since`; until `shortest` if it rings. Ends at once when the call is aborted. */
  async wait(since: number, shortest: number, longest: number): Promise<void> {
    const leftOf = (duration: number): number => Math.max(0, since + duration - this.#clock.now())
    await pauseUntil(this.#clock, leftOf(longest), this.#rung)
    if (leftOf(shortest) > 0) await pauseUntil(this.#clock, leftOf(shortest), this.#call)
    this.#rung = new AbortableCall()
  }
}
