import type { Clock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'

/** The pause between two looks, in milliseconds. */
const PAUSE = 5

/** The calls to a store that have no answer yet. */
export class CallsUnderWay {
  readonly #clock: Clock
  #count = 0
  #started = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a call until it has an answer. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#count += 1
    this.#started += 1
    try {
      return await call()
    } finally {
      this.#count -= 1
    }
  }

  /** Resolves when no call is under way and none follows, or when the time limit, in milliseconds, is over. */
  async ended(limit: number): Promise<void> {
    const start = this.#clock.now()
    for (let seen = -1; this.#count > 0 || this.#started > seen; await pause(this.#clock, PAUSE, new AbortableCall())) {
      seen = this.#started
      if (this.#clock.now() - start >= limit) return
    }
  }
}
