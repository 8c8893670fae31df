import type { Clock } from '../clock.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'
import type { Admission } from './admission.js'
import { LATE } from './engine-state.js'

/** How many grants one call renews: more would hold up the event loop, and other clients of the server. */
const LARGEST_BATCH = 512

/** One heartbeat in a batch. */
export interface Heartbeat {
  readonly caller: BatchCaller
  /** The number of the call. */
  readonly op: number
  readonly grant: Grant
  /** For how long its sender waits for the answer, in milliseconds. */
  readonly limit: number
}

/** The sender of a heartbeat. It is called once for each: with the answer of the store, which need not be valid, or an error. */
export interface BatchCaller {
  onRenewed(heartbeat: Heartbeat, answer: unknown): void
  onRenewalFailed(heartbeat: Heartbeat, error: unknown): void
}

/** Renews the grants that fall due in the same turn with one call, where the store can (`renewMany`). */
export class RenewalBatch {
  readonly #store: Required<Pick<LeaseStore, 'renewMany'>>
  readonly #clock: Clock
  readonly #admission: Admission
  #waiting: Heartbeat[] = []

  constructor(store: Required<Pick<LeaseStore, 'renewMany'>>, clock: Clock, admission: Admission) {
    this.#store = store
    this.#clock = clock
    this.#admission = admission
  }

  /** Sends a heartbeat with all others of this turn of the event loop. */
  add(heartbeat: Heartbeat): void {
    this.#admission.begin()
    this.#waiting.push(heartbeat)
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
    const limitAt = this.#clock.now() + limit
    let isUnderWay = true
    const end = (): void => {
      if (isUnderWay) this.#admission.end(batch.length)
      isUnderWay = false
    }
    const giveUp = (): void => {
      call.abort(new LeaseTimeoutError('the heartbeats timed out'))
      // Also where the store does not end the call.
      end()
    }
    let cancel = this.#clock.schedule(limit, () => {
      // After a blocked event loop, the answers that have come meanwhile are read first.
      if (this.#clock.now() <= limitAt + LATE) giveUp()
      else cancel = this.#clock.schedule(0, giveUp)
    })
    let next = 0
    try {
      const answers: unknown = await this.#store.renewMany(
        batch.map(({ grant }) => grant),
        call,
      )
      if (!Array.isArray(answers)) throw new TypeError('renewMany must resolve with an array of outcomes')
      for (const heartbeat of batch) {
        const answer: unknown = answers[next]
        next += 1
        settle(heartbeat, answer)
      }
    } catch (error) {
      for (const heartbeat of batch.slice(next)) heartbeat.caller.onRenewalFailed(heartbeat, error)
    } finally {
      cancel()
      end()
    }
  }
}

function settle(heartbeat: Heartbeat, answer: unknown): void {
  const { caller } = heartbeat
  if (answer === undefined)
    caller.onRenewalFailed(heartbeat, new Error('renewMany answered fewer outcomes than grants'))
  else if (answer instanceof Error) caller.onRenewalFailed(heartbeat, answer)
  else caller.onRenewed(heartbeat, answer)
}
