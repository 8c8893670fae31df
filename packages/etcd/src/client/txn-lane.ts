import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { TxnRequest, TxnResponse } from './api.js'
import type { Joining } from './joining.js'
import { isTransient } from './rpc-error.js'

/** How many requests are under way at the same time. */
const UNDER_WAY = 4

/** How many transactions go together: with three operations each, they stay below the limit of a server, which is 128. */
const MOST = 32

/** A request that was not answered for so many milliseconds may have hung: another one may go. */
const STALLED = 1_000

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
    const left = new Set(batch)
    const removals = batch.map((asked) =>
      asked.call.onAbort(() => {
        left.delete(asked)
        asked.reject(asked.call.signal.reason)
        if (left.size === 0) call.abort(asked.call.signal.reason)
      }),
    )
    try {
      while (left.size > 0) await this.#exchange(left, call)
    } catch (error) {
      this.#onFailure([...left], error)
    } finally {
      for (const remove of removals) remove()
      end()
    }
  }

  /** Sends what is left of a batch, and resolves all of it that the server has decided. */
  async #exchange(left: Set<Asked>, call: StoreCall): Promise<void> {
    const sent = [...left]
    const requests = sent.map(({ request }) => request)
    const [only] = requests
    const isOne = only !== undefined && requests.length === 1
    const answer = await this.#send(isOne ? only : this.#joining.join(requests), call)
    const answers = isOne ? [answer] : this.#joining.split(answer, requests)
    for (const [place, asked] of sent.entries()) {
      const own = answers[place]
      if (own === undefined) continue
      left.delete(asked)
      asked.resolve(own)
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
