import type { Clock } from '@leasehold/core'

/** Between two looks, in milliseconds. */
const PAUSE = 25

/**
 * Tells of each call that is still under way at two looks: to do anything for every call would be dear, and nearly all are
 * over by then.
 */
export class SlowCalls<Call> {
  readonly #clock: Clock
  readonly #onSlow: (call: Call) => void
  #fresh = new Set<Call>()
  /** Those that were under way at the last look. */
  #seen = new Set<Call>()
  #cancelLook: (() => void) | undefined

  constructor(clock: Clock, onSlow: (call: Call) => void) {
    this.#clock = clock
    this.#onSlow = onSlow
  }

  add(call: Call): void {
    this.#fresh.add(call)
    this.#cancelLook ??= this.#clock.schedule(PAUSE, () => this.#look())
  }

  /** It is over. */
  remove(call: Call): void {
    if (!this.#fresh.delete(call)) this.#seen.delete(call)
  }

  stop(): void {
    this.#cancelLook?.()
  }

  #look(): void {
    const slow = this.#seen
    this.#seen = this.#fresh
    this.#fresh = new Set()
    this.#cancelLook = this.#seen.size === 0 ? undefined : this.#clock.schedule(PAUSE, () => this.#look())
    for (const call of slow) this.#onSlow(call)
  }
}
