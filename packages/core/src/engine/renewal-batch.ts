import type { Clock } from '../clock.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'

/** How many grants one call renews: more would hold up the event loop, and other clients of the server. */
const LARGEST_BATCH = 512

/** Into how many steps the way to the next heartbeat is divided. */
const STEPS = 8

/** The sender of a heartbeat. It gets the outcome under the number that it gave. */
export interface HeartbeatSender {
  /** `outcome` comes from the store as it is, and need not be valid. */
  onRenewed(op: number, outcome: unknown): void
  onFailed(op: number, error: unknown): void
}

interface Heartbeat {
  readonly sender: HeartbeatSender
  readonly op: number
  readonly grant: Grant
  /** For how long its sender waits for the answer, in milliseconds. */
  readonly limit: number
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

  /** Sends a heartbeat with all others of this turn of the event loop. */
  add(sender: HeartbeatSender, op: number, grant: Grant, limit: number): void {
    this.#waiting.push({ sender, op, grant, limit })
    if (this.#waiting.length === 1) this.#clock.schedule(0, () => this.#flush())
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
      const outcomes: unknown = await this.#store.renewMany(
        batch.map(({ grant }) => grant),
        call,
      )
      if (!Array.isArray(outcomes)) throw new TypeError('renewMany must resolve with an array of outcomes')
      batch.forEach(({ sender, op }, place) => {
        const outcome: unknown = outcomes[place]
        if (outcome === undefined) sender.onFailed(op, new Error('renewMany answered fewer outcomes than grants'))
        else if (outcome instanceof Error) sender.onFailed(op, outcome)
        else sender.onRenewed(op, outcome)
      })
    } catch (error) {
      for (const { sender, op } of batch) sender.onFailed(op, error)
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
