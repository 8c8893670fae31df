import type { Clock } from '@leasehold/core'
import type { AbortableCall } from '@leasehold/core/store'

/** Waits between two reads. */
export class ReadAlarm {
  readonly #clock: Clock
  readonly #call: AbortableCall
  #isRinging = false
  #wake = (): void => {}

  constructor(clock: Clock, call: AbortableCall) {
    this.#clock = clock
    this.#call = call
  }

  ring(): void {
    this.#isRinging = true
    this.#wake()
  }

  /** Until `longest` milliseconds after `since`; until `shortest` if it rings. Ends at once when the call is aborted. */
  async wait(since: number, shortest: number, longest: number): Promise<void> {
    await new Promise<void>((resolve) => {
      let cancel = (): void => {}
      const arm = (): void => {
        cancel()
        const until = since + (this.#isRinging ? shortest : longest)
        cancel = this.#clock.schedule(Math.max(until - this.#clock.now(), 0), end)
      }
      const end = (): void => {
        cancel()
        forget()
        this.#wake = () => {}
        resolve()
      }
      let forget = (): void => {}
      this.#wake = arm
      arm()
      forget = this.#call.onAbort(end)
    })
    this.#isRinging = false
  }
}
