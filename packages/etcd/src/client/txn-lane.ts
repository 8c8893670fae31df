import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { RequestOp, TxnRequest, TxnResponse } from './api.js'
import { isTransient } from './rpc-error.js'

/** How many requests are under way at the same time. */
const UNDER_WAY = 4

/** How many transactions go together: with three operations each, they stay below the limit of a server, which is 128. */
const MOST = 32

/** A request that was not answered for so many milliseconds may have hung: another one may go. */
const STALLED = 1_000

/** How transactions become one, and its answer becomes theirs. */
export interface Joining {
  readonly join: (requests: readonly TxnRequest[]) => TxnRequest
  readonly split: (answer: TxnResponse, requests: readonly TxnRequest[]) => readonly TxnResponse[]
}

/** Reads become one read: a server answers it without a write to the log of the cluster. */
export const joinedReads: Joining = {
  join: (requests) => ({ compare: [], success: requests.flatMap(({ success }) => success), failure: [] }),
  split: (answer, requests) => {
    let from = 0
    return requests.map(({ success: { length } }) => {
      const responses = answer.responses.slice(from, from + length)
      from += length
      return { header: answer.header, succeeded: true, responses }
    })
  },
}

/** Writes become the operations of one transaction: each still depends on its own comparisons only. */
export const joinedWrites: Joining = {
  join: (requests) => ({
    compare: [],
    success: requests.map((requestTxn): RequestOp => ({ requestTxn })),
    failure: [],
  }),
  split: ({ header, responses }, requests) =>
    requests.map((_, place) => {
      const { succeeded = false, responses: own = [] } = responses[place]?.responseTxn ?? {}
      return { header, succeeded, responses: own }
    }),
}

interface Asked {
  readonly subject: unknown
  readonly request: TxnRequest
  readonly call: StoreCall
  readonly resolve: (answer: TxnResponse) => void
  readonly reject: (error: unknown) => void
  /** Whether it was refused together with others, so that it has to go alone. */
  isAlone: boolean
  removeListener: () => void
}

/**
 * Sends transactions, few at a time. Those that come meanwhile wait, and go together: a crowd of claims costs the process a
 * bounded number of requests. Heartbeats do not go this way, so that no crowd holds them up. A transaction whose call is
 * aborted while it waits is never sent.
 */
export class TxnLane {
  readonly #send: (request: TxnRequest, call: StoreCall) => Promise<TxnResponse>
  readonly #clock: Clock
  readonly #joining: Joining
  /** By subject, in the order of arrival: a server refuses a transaction that writes a key twice. */
  readonly #waiting = new Map<unknown, Set<Asked>>()
  #underWay = 0

  constructor(send: (request: TxnRequest, call: StoreCall) => Promise<TxnResponse>, clock: Clock, joining: Joining) {
    this.#send = send
    this.#clock = clock
    this.#joining = joining
  }

  /** Transactions with the same subject never go together. Rejects with the error of gRPC, or the reason of the abort. */
  send(subject: unknown, request: TxnRequest, call: StoreCall): Promise<TxnResponse> {
    return new Promise((resolve, reject) => {
      if (call.aborted) return reject(call.signal.reason)
      const asked: Asked = { subject, request, call, resolve, reject, isAlone: false, removeListener: () => {} }
      this.#add(asked)
      this.#sendNext()
    })
  }

  #add(asked: Asked): void {
    const { subject, call, reject } = asked
    const line = this.#waiting.get(subject) ?? new Set()
    line.add(asked)
    this.#waiting.set(subject, line)
    asked.removeListener = call.onAbort(() => {
      line.delete(asked)
      if (line.size === 0 && this.#waiting.get(subject) === line) this.#waiting.delete(subject)
      reject(call.signal.reason)
    })
  }

  #sendNext(): void {
    while (this.#underWay < UNDER_WAY && this.#waiting.size > 0) void this.#sendTogether(this.#next())
  }

  /** The first of each subject. A subject with more of them comes after the others the next time. */
  #next(): readonly Asked[] {
    const batch: Asked[] = []
    const more = new Map<unknown, Set<Asked>>()
    for (const [subject, line] of this.#waiting) {
      const [first] = line
      if (first === undefined || (first.isAlone && batch.length > 0)) break
      batch.push(first)
      first.removeListener()
      line.delete(first)
      this.#waiting.delete(subject)
      if (line.size > 0) more.set(subject, line)
      if (first.isAlone || batch.length === MOST) break
    }
    for (const [subject, line] of more) this.#waiting.set(subject, line)
    return batch
  }

  async #sendTogether(batch: readonly Asked[]): Promise<void> {
    let isCounted = true
    const end = (): void => {
      cancel()
      if (isCounted) this.#underWay -= 1
      isCounted = false
      this.#sendNext()
    }
    this.#underWay += 1
    const cancel = this.#clock.schedule(STALLED, end)
    const call = new AbortableCall(Math.max(...batch.map((asked) => asked.call.timeout)))
    const removals = batch.map((asked) =>
      asked.call.onAbort(() => {
        asked.reject(asked.call.signal.reason)
        if (batch.every((each) => each.call.aborted)) call.abort(asked.call.signal.reason)
      }),
    )
    try {
      const requests = batch.map(({ request }) => request)
      const [only] = requests
      if (only !== undefined && requests.length === 1) {
        batch[0]?.resolve(await this.#send(only, call))
      } else {
        const answer = await this.#send(this.#joining.join(requests), call)
        for (const [place, own] of this.#joining.split(answer, requests).entries()) batch[place]?.resolve(own)
      }
    } catch (error) {
      this.#onFailure(batch, error)
    } finally {
      for (const remove of removals) remove()
      end()
    }
  }

  /** A definitive error may be for one of them only. Nothing was written then. */
  #onFailure(batch: readonly Asked[], error: unknown): void {
    const isRefused = batch.length > 1 && !isTransient(error)
    for (const asked of batch) {
      asked.isAlone = true
      if (isRefused && !asked.call.aborted) this.#add(asked)
      else asked.reject(error)
    }
  }
}
