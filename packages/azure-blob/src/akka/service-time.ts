import type { Clock } from '@leasehold/core'
import { SECOND } from '../write-time.js'

/**
 * The time by the service's clock, estimated from its answers; never too early. This machine's wall clock can be wrong by
 * hours.
 */
export class ServiceTime {
  readonly #clock: Clock
  #latest: { readonly time: number; readonly at: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `asked`: the time at which the request was sent, on the machine's monotonic clock. */
  learn(date: Date | undefined, asked: number): void {
    // The service rounds down: the actual time is up to a second later.
    if (date !== undefined) this.#latest = { time: date.getTime() + SECOND, at: asked }
  }

  /** In milliseconds since 1970; 0 before the first answer. */
  now(): number {
    return this.#latest === undefined ? 0 : this.#latest.time + (this.#clock.now() - this.#latest.at)
  }
}
