import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer, Method, Request } from './api.js'
import type { Channel, WatchStream } from './channel.js'

/** The connection of a call that was given up is dropped after this time without any answer, in milliseconds. */
const SILENCE = 500

/** One member of the cluster, as an endpoint names it, and the connection to it. */
export class Member {
  readonly #open: () => Channel
  readonly #clock: Clock
  #channel: Channel | undefined
  #heardAt = Number.NEGATIVE_INFINITY

  /** `open` makes a connection to it. */
  constructor(open: () => Channel, clock: Clock) {
    this.#open = open
    this.#clock = clock
  }

  /** Sends a request. Drops the connection if the call is given up and nothing was heard meanwhile: it may be dead. */
  async unary<M extends Method>(
    method: M,
    request: Request<M>,
    token: string | undefined,
    call: StoreCall,
  ): Promise<Answer<M>> {
    const channel = this.#connected()
    const sentAt = this.#clock.now()
    try {
      const answer = await channel.unary(method, request, token, call)
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

  watch(token: string | undefined): WatchStream {
    return this.#connected().watch(token)
  }

  /** Ends the connection; the next request opens another one. */
  drop(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  #connected(): Channel {
    this.#channel ??= this.#open()
    return this.#channel
  }
}
