import { type Clock, type LeaseStore, readLease } from '@leasehold/core'

/** The time between two looks at the record, in milliseconds. */
const INTERVAL = 10_000

/**
 * The largest number of waiters that can be before a claim. The record of a name tells only how many wait in all. If the
 * store serves waiters in their order, the number before a claim never grows while the claim keeps its place.
 */
export class QueuePlace {
  readonly #store: LeaseStore
  readonly #name: string
  readonly #ttl: number
  readonly #clock: Clock
  #before = Number.POSITIVE_INFINITY
  #refusedAt = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY

  /** `ttl`: a claim that is not repeated within it loses its place. Milliseconds. */
  constructor(store: LeaseStore, name: string, ttl: number, clock: Clock) {
    this.#store = store
    this.#name = name
    this.#ttl = ttl
    this.#clock = clock
  }

  /** For people; empty where the place is not known. */
  get shown(): string {
    if (this.#before === Number.POSITIVE_INFINITY) return ''
    if (this.#before === 0) return ', next in the queue'
    return `, behind at most ${this.#before} ${this.#before === 1 ? 'other' : 'others'}`
  }

  /** The claim was refused, and has a place from now on. */
  refused(): void {
    const now = this.#clock.now()
    if (now - this.#refusedAt > this.#ttl) this.leave()
    this.#refusedAt = now
  }

  /** The claim may have lost its place. */
  leave(): void {
    this.#before = Number.POSITIVE_INFINITY
    this.#refusedAt = Number.NEGATIVE_INFINITY
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  /** Reads the record again, if the last look was some time ago. */
  look(): void {
    const now = this.#clock.now()
    const since = this.#refusedAt
    if (!this.#store.limits.ordered || since === Number.NEGATIVE_INFINITY || now - this.#lookedAt < INTERVAL) return
    this.#lookedAt = now
    readLease(this.#store, this.#name, { clock: this.#clock }).then(
      (record) => {
        const { waiters = 0 } = record ?? {}
        // The place may have been lost in the meantime.
        if (waiters > 0 && this.#refusedAt >= since) this.#before = Math.min(this.#before, waiters - 1)
      },
      () => {},
    )
  }
}
