import type { Clock } from './clock.js'
import type { LeaseSettings } from './lease-settings.js'

/** A grant that is held for so many ttls without `maxHold` may belong to a hung worker. */
const MANY_TTLS = 100

/** Warns once for each grant that is held for long without `maxHold`. It is checked at heartbeats and needs no timer. */
export class LongHold {
  readonly #settings: LeaseSettings
  readonly #clock: Clock
  readonly #warn: (message: string) => void
  #warnAt = Number.POSITIVE_INFINITY

  constructor(settings: LeaseSettings, clock: Clock, warn: (message: string) => void) {
    this.#settings = settings
    this.#clock = clock
    this.#warn = warn
  }

  onGranted(): void {
    const { maxHold, timeouts } = this.#settings
    const isLimited = maxHold !== Number.POSITIVE_INFINITY
    // `Infinity` for a lease that does not expire.
    const long = isLimited ? Number.POSITIVE_INFINITY : MANY_TTLS * timeouts.heartbeatTimeout
    this.#warnAt = this.#clock.now() + long
  }

  onRenewed(): void {
    if (this.#clock.now() < this.#warnAt) return
    this.#warnAt = Number.POSITIVE_INFINITY
    this.#warn(
      `held for more than ${MANY_TTLS} heartbeat timeouts without maxHold: a worker that hangs keeps the lease for ever. ` +
        'Set maxHold to the longest time that the work may take',
    )
  }
}
