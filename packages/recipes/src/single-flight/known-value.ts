import type { Clock } from '@leasehold/core'
import { type FlightState, type StoredValue, stateOf } from './flight-record.js'

/** A value as this process has seen it. Its age grows with the monotonic clock, whatever happens to the wall clock. */
export class KnownValue {
  readonly stored: StoredValue
  readonly #value: unknown
  readonly #clock: Clock
  /** When its age was 0, on the clock of this process. */
  readonly #bornAt: number

  /** `value`: that of the place, for a value that the record does not keep. `age`: at the instant `seenAt`. */
  constructor(
    stored: StoredValue,
    value: unknown,
    { clock, age, seenAt }: { readonly clock: Clock; readonly age: number; readonly seenAt: number },
  ) {
    this.stored = stored
    this.#value = value
    this.#clock = clock
    this.#bornAt = seenAt - age
  }

  get state(): FlightState {
    return stateOf(this.stored, this.#clock.now() - this.#bornAt)
  }

  /** Each caller gets a copy of its own, except of a value from the place. */
  get value(): unknown {
    const { text } = this.stored
    return text === undefined ? this.#value : JSON.parse(text)
  }

  /** The later one of two values of a key. Of one value, the sight that makes it older. */
  orLater(other: KnownValue | undefined): KnownValue {
    if (other === undefined || other.stored.token < this.stored.token) return this
    return other.stored.token > this.stored.token || other.#bornAt < this.#bornAt ? other : this
  }
}
