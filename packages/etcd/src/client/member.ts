import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer, Method, Request } from './api.js'
import type { Connection, Credential } from './connection.js'
import type { WatchStream } from './grpc-calls.js'

/** The connection of a call that was given up is dropped after this time without any answer, in milliseconds. */
const SILENCE = 500

/** One member of the cluster, as an endpoint names it, and the connection to it. */
export class Member {
  readonly #open: () => Connection
  readonly #clock: Clock
  #channel: Connection | undefined
  #heardAt = Number.NEGATIVE_INFINITY

  /** `open` makes a connection to it. */
  constructor(open: () => Connection, clock: Clock) {
    this.#open = open
    this.#clock = clock
  }

  /** Sends a request. Drops the connection if the call is given up and nothing was heard meanwhile: it may be dead. */
  async unary<M extends Method>(
    method: M,
    request: Request<M>,
    credential: Credential,
    call: StoreCall,
  ): Promise<Answer<M>> {
    const channel = this.#connected()
    const sentAt = this.#clock.now()
    try {
      const answer = await channel.unary(method, request, credential, call)
      this.#heardAt = this.#clock.now()
      return answer
    } catch (error) {
      if (call.aborted && this.#clock.now() - sentAt >= SILENCE) {
        // After a blocked event loop, timers run before the answers that came meanwhile are read.
        setImmediate(() => {
          if (this.#heardAt < sentAt && this.#channel === channel) this.drop()
        })
      }
      throw error
    }
  }

  watch(credential: Credential): WatchStream {
    return this.#connected().watch(credential)
  }

  /** Ends the connection; the next request opens another one. */
  drop(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  #connected(): Connection {
    this.#channel ??= this.#open()
    return this.#channel
  }
}
