import type { Clock } from '@leasehold/core'
import { Outage, reasonOf } from '@leasehold/core/store'

/** What a recipe that asks its store again and again says of an outage: one line at its beginning, few later, one at its end. */
export class StoreOutage {
  readonly #outage = new Outage()
  readonly #clock: Clock
  readonly #log: (line: string, error?: unknown) => void
  #since: number | undefined
  #isLogged = false

  /** `log` gets the error too, where the line is about a failure. */
  constructor(clock: Clock, log: (line: string, error?: unknown) => void) {
    this.#clock = clock
    this.#log = log
  }

  /** For how long the store has failed, in milliseconds; 0 while it answers. */
  get duration(): number {
    return this.#since === undefined ? 0 : this.#clock.now() - this.#since
  }

  /** The store has failed, and that was logged elsewhere. Returns whether the outage begins. */
  begin(): boolean {
    if (this.#since !== undefined) return false
    this.#since = this.#clock.now()
    this.#outage.begin()
    return true
  }

  /** A request has failed, and will be repeated. Returns whether the outage begins. */
  onFailure(what: string, error: unknown): boolean {
    const begins = this.begin()
    if (this.#outage.isDue(this.#clock.now())) {
      this.#isLogged = true
      this.#log(`${what}, and is tried again: ${reasonOf(error)}`, error)
    }
    return begins
  }

  /** The store has answered. Returns whether an outage ends. */
  onAnswer(): boolean {
    if (this.#since === undefined) return false
    this.#since = undefined
    this.#outage.end()
    if (this.#isLogged) this.#log('the store has answered again')
    this.#isLogged = false
    return true
  }
}
