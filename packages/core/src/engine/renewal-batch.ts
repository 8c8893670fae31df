import { publishCall, tracers } from '../channels/channels.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import type { Admission } from './admission.js'
import { LATE } from './engine-state.js'

/** How many grants one call renews: more would hold up the event loop, and other clients of the server. */
const LARGEST_BATCH = 512

/** The part of a store that renews many grants. */
type BatchStore = Required<Pick<LeaseStore, 'renewMany'>> & { readonly kind?: string | undefined }

/** The sender of a heartbeat. It gets one answer of the store, which need not be valid, or one error. */
export interface BatchCaller {
  /** `op`: the number of the call. */
  onRenewed(op: number, answer: unknown): void
  onRenewalFailed(op: number, error: unknown): void
  /** The time limit of its heartbeat has come, and there is no answer. An answer may still come. */
  onTimer(): void
}

/** The heartbeats of one call. Each has the same place in the three lists: an object for each would be garbage soon. */
class Batch {
  readonly callers: BatchCaller[] = []
  readonly ops: number[] = []
  readonly grants: Grant[] = []
  /** For how long all of them wait for the answer, in milliseconds. */
  readonly timeout: number
  /** The longest time limit of any of them, in milliseconds from when the store is asked. */
  limit = 0

  constructor(timeout: number) {
    this.timeout = timeout
  }
}

/** Renews the grants that fall due together with one call, where the store can (`renewMany`). */
export class RenewalBatch {
  readonly #store: BatchStore
  readonly #clock: Clock
  readonly #admission: Admission
  readonly #waiting: Batch[] = []

  constructor(store: BatchStore, clock: Clock, admission: Admission) {
    this.#store = store
    this.#clock = clock
    this.#admission = admission
  }

  /**
   * Sends a heartbeat with all others that are added before the next promise reaction, and have the same `timeout`. `limit`:
   * how long it may take from when the store is asked, in milliseconds.
   */
  add(caller: BatchCaller, op: number, grant: Grant, timeout: number, limit: number): void {
    this.#admission.begin()
    const batch = this.#batchFor(timeout)
    batch.callers.push(caller)
    batch.ops.push(op)
    batch.grants.push(grant)
    batch.limit = Math.max(batch.limit, limit)
  }

  #batchFor(timeout: number): Batch {
    for (const batch of this.#waiting) {
      if (batch.timeout === timeout && batch.grants.length < LARGEST_BATCH) return batch
    }
    const batch = new Batch(timeout)
    this.#waiting.push(batch)
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush())
    return batch
  }

  /** Sends one batch in each turn, so that a crowd of heartbeats does not block the event loop. */
  #flush(): void {
    const batch = this.#waiting.shift()
    if (this.#waiting.length > 0) this.#clock.schedule(0, () => this.#flush())
    if (batch !== undefined) void this.#send(batch)
  }

  async #send(batch: Batch): Promise<void> {
    const { callers, ops, grants, timeout } = batch
    const call = new AbortableCall(timeout)
    let isUnderWay = true
    const end = (): void => {
      if (isUnderWay) this.#admission.end(callers.length)
      isUnderWay = false
    }
    const cancel = this.#atLimit(batch, () => {
      call.abort(new LeaseTimeoutError('the heartbeats timed out'))
      // The heartbeats count as ended even if the store does not end the call.
      end()
      this.#tellEach(callers, (caller) => caller.onTimer())
    })
    const outcomes: unknown[] = []
    let failure: { readonly error: unknown } | undefined
    try {
      const answers: unknown = await this.#renewMany(grants, call)
      if (!Array.isArray(answers)) throw new TypeError('renewMany must resolve with an array of outcomes')
      // Each is read before the first is handed out: what is thrown here comes from the store, and not from an engine.
      for (let place = 0; place < grants.length; place += 1) outcomes.push(answers[place])
    } catch (error) {
      failure = { error }
    }
    cancel()
    end()
    this.#tellEach(callers, (caller, place) => settle(caller, ops[place] ?? 0, outcomes[place], failure))
  }

  #renewMany(grants: readonly Grant[], call: StoreCall): unknown {
    if (!tracers.store.isOn) return this.#store.renewMany(grants, call)
    const { kind: store = 'custom' } = this.#store
    const message = {
      leaseName: undefined,
      owner: undefined,
      store,
      operation: 'renewMany',
      leases: grants.length,
    } as const
    return publishCall(message, async () => await this.#store.renewMany(grants, call))
  }

  /** Calls `tell` for each caller. An error of one caller costs no other its answer: it is thrown again in a later turn. */
  #tellEach(callers: readonly BatchCaller[], tell: (caller: BatchCaller, place: number) => void): void {
    for (const [place, caller] of callers.entries()) {
      try {
        tell(caller, place)
      } catch (error) {
        this.#clock.schedule(0, () => {
          throw error
        })
      }
    }
  }

  /** Sets one timer for all heartbeats of a call. Returns a function that cancels it. */
  #atLimit({ limit }: Batch, giveUp: () => void): () => void {
    const limitAt = this.#clock.now() + limit
    const look = (): void => {
      const late = this.#clock.now() - limitAt
      // After a blocked event loop, the answers that have come meanwhile are read first.
      if (late > LATE) cancel = this.#clock.schedule(0, giveUp)
      else if (late >= 0) giveUp()
      else cancel = this.#clock.schedule(-late, look)
    }
    let cancel = this.#clock.schedule(limit, look)
    return () => cancel()
  }
}

/** Gives one caller its outcome or error. `failure`: the error of the whole call, if it failed. */
function settle(
  caller: BatchCaller,
  op: number,
  outcome: unknown,
  failure: { readonly error: unknown } | undefined,
): void {
  if (outcome instanceof Error) caller.onRenewalFailed(op, outcome)
  else if (outcome !== undefined) caller.onRenewed(op, outcome)
  else if (failure !== undefined) caller.onRenewalFailed(op, failure.error)
  else caller.onRenewalFailed(op, new Error('renewMany answered fewer outcomes than grants'))
}
