import { detailsOf } from '../engine/failures.js'
import type { LeaseRules } from '../engine/lease-rules.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { reasonOf } from '../shown-value.js'

/** The claims of a self-fenced lease that wait until the watchdog runs. */
export class WatchdogEntry {
  readonly #rules: LeaseRules
  #abandoned = 0

  constructor(rules: LeaseRules) {
    this.#rules = rules
  }

  /** Makes the claims that wait resolve with false. */
  abandon(): void {
    this.#abandoned += 1
  }

  /** Rejects with a `LeaseUnavailableError` if the watchdog cannot be started. */
  async enter(starting: Promise<void>, claim: () => Promise<boolean>): Promise<boolean> {
    const abandoned = this.#abandoned
    try {
      await starting
    } catch (cause) {
      const message = `the thread of selfFence could not be started: ${reasonOf(cause)}`
      throw new LeaseUnavailableError(message, { ...detailsOf(this.#rules), cause })
    }
    return abandoned === this.#abandoned && (await claim())
  }
}
