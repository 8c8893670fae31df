import type { Clock } from '../clock.js'
import { Deferred } from '../deferred.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'

/** How many grants one call renews: more would hold up the event loop, and other clients of the server. */
const LARGEST_BATCH = 512

/** Into how many steps the way to the next heartbeat is divided. */
const STEPS = 8

interface Heartbeat {
  readonly grant: Grant
  /** For how long its sender waits for the answer, in milliseconds. */
  readonly limit: number
  readonly outcome: Deferred<unknown>
}

/** Renews the grants that fall due in the same turn with one call, where the store can (`renewMany`). */
export class RenewalBatch {
  readonly #store: Required<Pick<LeaseStore, 'renewMany'>>
  readonly #clock: Clock
  #waiting: Heartbeat[] = []

  constructor(store: Required<Pick<LeaseStore, 'renewMany'>>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Sends a heartbeat with all others of this turn of the event loop. Resolves with the outcome as the store returned it,
   * which need not be valid.
   */
  renew(grant: Grant, limit: number): Promise<unknown> {
    const outcome = new Deferred<unknown>()
    this.#waiting.push({ grant, limit, outcome })
    if (this.#waiting.length === 1) this.#clock.schedule(0, () => this.#flush())
    return outcome.promise
  }

  /** One call a turn, so that a crowd of heartbeats does not block the event loop. */
  #flush(): void {
    const batch = this.#waiting.splice(0, LARGEST_BATCH)
    if (this.#waiting.length > 0) this.#clock.schedule(0, () => this.#flush())
    void this.#send(batch)
  }

  async #send(batch: readonly Heartbeat[]): Promise<void> {
    const limit = batch.reduce((longest, heartbeat) => Math.max(longest, heartbeat.limit), 0)
    const call = new AbortableCall(limit)
    const cancel = this.#clock.schedule(limit, () => call.abort(new LeaseTimeoutError('the heartbeats timed out')))
    try {
      const grants = batch.map(({ grant }) => grant)
      const answers: unknown = await this.#store.renewMany(grants, call)
      if (!Array.isArray(answers)) throw new TypeError('renewMany must resolve with an array of outcomes')
      batch.forEach(({ outcome }, place) => {
        const answer: unknown = answers[place]
        if (answer === undefined) outcome.reject(new Error('renewMany answered fewer outcomes than grants'))
        else if (answer instanceof Error) outcome.reject(answer)
        else outcome.resolve(answer)
      })
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error)
    } finally {
      cancel()
    }
  }
}

/**
 * Brings a heartbeat forward to a step of the clock that the heartbeats of other leases come to as well, so that they
 * fall due together; never later than planned. Steps are powers of two, for leases of about the same plan to share them.
 */
export function alignToBatch(sentAt: number, after: number): number {
  const step = 2 ** Math.floor(Math.log2(Math.max(after / STEPS, 1)))
  const aligned = Math.floor((sentAt + after) / step) * step - sentAt
  return aligned > 0 ? aligned : after
}
