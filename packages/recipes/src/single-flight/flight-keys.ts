import type { Clock } from '@leasehold/core'
import { SharedAttempt } from '../shared-attempt.js'
import type { KnownValue } from './known-value.js'
import type { FlightRequest } from './single-flight-options.js'

/** How many keys are kept at least, for the pauses after failures. */
const FEWEST_KEYS = 100

/** The callers in this process that wait for one look at a key, or one refresh of it. */
export class Flight extends SharedAttempt {
  readonly request: FlightRequest
  /** Whether it was started behind the callers of a stale value. It then waits for no other process. */
  readonly isBehind: boolean
  /** Whether it has the lease: its callers may leave then, it goes on. */
  hasBegun = false
  /** The value that it has found or made; `undefined` if another process refreshes, and this flight is behind. */
  found: KnownValue | undefined

  constructor(clock: Clock, request: FlightRequest, isBehind: boolean) {
    super(clock)
    this.request = request
    this.isBehind = isBehind
  }

  /** Whether a caller may still join. */
  get isOpen(): boolean {
    return this.hasBegun || !this.call.aborted
  }
}

/** A key as this process knows it. */
export interface FlightKey {
  known: KnownValue | undefined
  flight: Flight | undefined
  /** Until when no refresh is started behind a stale value, on the clock. */
  quietUntil: number
}

/** The keys of this process that were used last. */
export class FlightKeys {
  readonly #most: number
  readonly #keepsValues: boolean
  readonly #keys = new Map<string, FlightKey>()

  constructor(cacheSize: number) {
    this.#most = Math.max(cacheSize, FEWEST_KEYS)
    this.#keepsValues = cacheSize > 0
  }

  get flights(): readonly Flight[] {
    return Array.from(this.#keys.values(), ({ flight }) => flight ?? []).flat()
  }

  use(key: string): FlightKey {
    const used = this.#keys.get(key) ?? { known: undefined, flight: undefined, quietUntil: Number.NEGATIVE_INFINITY }
    this.#keys.delete(key)
    this.#keys.set(key, used)
    if (this.#keys.size > this.#most) this.#forgetOldest()
    return used
  }

  /** Keeps a value, unless a later one is known. Returns the later one. */
  keep(key: FlightKey, value: KnownValue): KnownValue {
    const latest = value.orLater(key.known)
    if (this.#keepsValues) key.known = latest
    return latest
  }

  forget(key: string): void {
    const used = this.#keys.get(key)
    if (used !== undefined) used.known = undefined
  }

  #forgetOldest(): void {
    for (const [key, { flight }] of this.#keys) {
      if (flight !== undefined) continue
      this.#keys.delete(key)
      return
    }
  }
}
