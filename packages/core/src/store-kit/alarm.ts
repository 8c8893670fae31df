import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'

/** Ends the pauses of one observer early: one of them when it rings, and all when the call is aborted. */
export class Alarm {
  readonly #clock: Clock
  readonly #call: StoreCall
  #isRung = false
  #wake = (): void => {}

  constructor(clock: Clock, call: StoreCall) {
    this.#clock = clock
    this.#call = call
    call.onAbort(() => this.#wake())
  }

  /** Ends the present pause, or the next one. */
  ring(): void {
    if (this.#isRung) return
    this.#isRung = true
    this.#wake()
  }

  /** Waits until the instant `latest`; if it rings, until `earliest`. Resolves with whether it has rung. */
  async wait(latest: number, earliest = Number.NEGATIVE_INFINITY): Promise<boolean> {
    if (!this.#isRung) await this.#sleep(latest)
    await this.#sleep(earliest)
    const isRung = this.#isRung
    this.#isRung = false
    return isRung
  }

  async #sleep(until: number): Promise<void> {
    const left = until - this.#clock.now()
    if (left <= 0 || this.#call.aborted) return
    let cancel = (): void => {}
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      cancel = this.#clock.schedule(left, resolve)
    })
    cancel()
  }
}
