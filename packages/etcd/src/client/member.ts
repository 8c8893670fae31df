import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer, Method, Request } from './api.js'
import type { Certificates, Channel, WatchStream } from './channel.js'

/** After so many milliseconds without any answer, the connection of a call that was given up is dropped. */
const SILENCE = 500

/** Loads gRPC. */
export type ChannelClass = typeof Channel

/** One member of the cluster, as an endpoint names it, and the connection to it. */
export class Member {
  readonly #address: string
  readonly #certificates: Certificates | undefined
  readonly #clock: Clock
  #channel: Channel | undefined
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(address: string, certificates: Certificates | undefined, clock: Clock) {
    this.#address = address
    this.#certificates = certificates
    this.#clock = clock
  }

  unary<M extends Method>(
    Loaded: ChannelClass,
    method: M,
    request: Request<M>,
    token: string | undefined,
    call: StoreCall,
  ): Promise<Answer<M>> {
    return this.#heard(this.#open(Loaded).unary(method, request, token, call), call)
  }

  watch(Loaded: ChannelClass, token: string | undefined): WatchStream {
    return this.#open(Loaded).watch(token)
  }

  /** Ends the connection; the next request opens another one. */
  drop(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  #open(Loaded: ChannelClass): Channel {
    this.#channel ??= new Loaded(this.#address, this.#certificates)
    return this.#channel
  }

  /** A connection on which nothing was heard for the whole time of a call that was given up may be dead. */
  async #heard<T>(answering: Promise<T>, call: StoreCall): Promise<T> {
    const channel = this.#channel
    const sentAt = this.#clock.now()
    try {
      const answer = await answering
      this.#heardAt = this.#clock.now()
      return answer
    } catch (error) {
      if (call.aborted && this.#clock.now() - sentAt >= SILENCE) {
        // After a blocked event loop, timers run before the answers are read that have come meanwhile.
        setImmediate(() => {
          if (this.#heardAt < sentAt && this.#channel === channel) this.drop()
        })
      }
      throw error
    }
  }
}
