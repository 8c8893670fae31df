import type { Clock } from '@leasehold/core'

/** The service tells the time in whole seconds: what it told may have been up to this much later. */
const STEP = 1_000

/**
 * The time by the service's clock, as far as its answers tell; never too early. This machine's own wall clock may be off
 * by hours.
 */
export class ServiceTime {
  readonly #clock: Clock
  #latest: { readonly time: number; readonly at: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `asked`: when the answered request was sent, on the machine's monotonic clock. */
  learn(date: Date | undefined, asked: number): void {
    if (date !== undefined) this.#latest = { time: date.getTime() + STEP, at: asked }
  }

  /** Milliseconds since 1970; 0 before the service has told anything. */
  now(): number {
    return this.#latest === undefined ? 0 : this.#latest.time + (this.#clock.now() - this.#latest.at)
  }
}
