import type { Clock } from '@leasehold/core'
import { Outage, reasonOf } from '@leasehold/core/internal'

/** The events of an outage. */
type Emit = (event: 'unreachable' | 'reachable', ...args: readonly { readonly cause: unknown }[]) => void

/**
 * Notices the outages of a store that a recipe asks again and again. Emits the beginning and the end of each outage, and
 * logs one line at the beginning, few later, and one at the end.
 */
export class StoreOutage {
  readonly #outage = new Outage()
  readonly #clock: Clock
  readonly #log: (line: string, error?: unknown) => void
  readonly #emit: Emit
  #since: number | undefined
  #isLogged = false

  /** `log` gets the error too, where the line is about a failure. */
  constructor(clock: Clock, log: (line: string, error?: unknown) => void, emit: Emit = () => {}) {
    this.#clock = clock
    this.#log = log
    this.#emit = emit
  }

  /** For how long the store has failed, in milliseconds; 0 while it answers. */
  get duration(): number {
    return this.#since === undefined ? 0 : this.#clock.now() - this.#since
  }

  /** The store has failed, and that was logged elsewhere. */
  begin(cause: unknown): void {
    if (this.#since !== undefined) return
    this.#since = this.#clock.now()
    this.#outage.begin(this)
    this.#emit('unreachable', { cause })
  }

  /** A request has failed, and will be repeated. */
  onFailure(what: string, error: unknown): void {
    this.begin(error)
    if (this.#outage.isDue(this.#clock.now())) {
      this.#isLogged = true
      this.#log(`${what}, and is tried again: ${reasonOf(error)}`, error)
    }
  }

  /** The store has answered. */
  onAnswer(): void {
    if (this.#since === undefined) return
    this.#since = undefined
    this.#outage.end(this)
    if (this.#isLogged) this.#log('the store has answered again')
    this.#isLogged = false
    this.#emit('reachable')
  }
}
