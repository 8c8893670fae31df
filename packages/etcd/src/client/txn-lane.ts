import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { type Operation, Requests } from '@leasehold/core/store-kit'
import type { TxnRequest, TxnResponse } from './api.js'
import type { Joining } from './joining.js'
import { isTransient } from './rpc-error.js'

/** How many requests are under way at the same time. */
const UNDER_WAY = 4

/** How many transactions go together: with three operations each, they stay below the limit of a server, which is 128. */
const MOST = 32

/** A request that was not answered for this time, in milliseconds, may have hung: another one may go. */
const STALLED = 1_000

interface Query {
  readonly subject: unknown
  readonly request: TxnRequest
}

/**
 * Sends transactions, few requests at a time: a crowd of claims costs the process a bounded number of them. Heartbeats do not
 * go this way, so that no crowd holds them up.
 */
export class TxnLane {
  readonly #transact: (request: TxnRequest, call: StoreCall) => Promise<TxnResponse>
  readonly #joining: Joining
  readonly #requests: Requests<Query, TxnResponse>

  constructor(
    transact: (request: TxnRequest, call: StoreCall) => Promise<TxnResponse>,
    clock: Clock,
    joining: Joining,
  ) {
    this.#transact = transact
    this.#joining = joining
    this.#requests = new Requests(
      {
        most: UNDER_WAY,
        smallest: 1,
        largest: MOST,
        send: (operations, call) => this.#send(operations, call),
        isOfOne: (error) => !isTransient(error),
        // A server refuses a transaction that writes a key twice.
        subjectOf: ({ subject }) => subject,
        stalled: STALLED,
      },
      clock,
    )
  }

  /** Transactions with the same subject never go together. Rejects with the error of gRPC, or the reason of the abort. */
  send(subject: unknown, request: TxnRequest, call: StoreCall): Promise<TxnResponse> {
    return this.#requests.run({ subject, request }, call)
  }

  /** Sends what is left of a request, until the server has decided all of it. */
  async #send(operations: readonly Operation<Query, TxnResponse>[], call: StoreCall): Promise<void> {
    for (let left = operations; left.length > 0; left = left.filter(({ isOpen }) => isOpen)) {
      const requests = left.map(({ query }) => query.request)
      const [only] = requests
      const isOne = only !== undefined && requests.length === 1
      const answer = await this.#transact(isOne ? only : this.#joining.join(requests), call)
      const answers = isOne ? [answer] : this.#joining.split(answer, requests)
      for (const [place, operation] of left.entries()) {
        const own = answers[place]
        if (own !== undefined) operation.resolve(own)
      }
    }
  }
}
