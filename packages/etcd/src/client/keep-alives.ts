import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { LeaseAnswer } from './api.js'
import { type KeepAliveCall, KeepAliveStream } from './keep-alive-stream.js'

/** A stream that has been silent for so many milliseconds, while it owes an answer, takes no more keep-alives. */
const STALLED = 800

/**
 * The keep-alives of one member, over one stream. A follower passes them on to its leader, one after the other. If the
 * leader hangs, the follower waits for it for 7 s, also when the cluster has another leader; a new stream goes to that
 * one. So a stalled stream is replaced. It stays open for as long as a caller waits for it, because it may only be slow.
 */
export class KeepAlives {
  readonly #open: () => KeepAliveCall
  readonly #clock: Clock
  readonly #streams = new Set<KeepAliveStream>()
  #current: KeepAliveStream | undefined

  constructor(open: () => KeepAliveCall, clock: Clock) {
    this.#open = open
    this.#clock = clock
  }

  /** Rejects with the error that ended the stream, or with the reason of the abort. */
  send(ID: string, call: StoreCall): Promise<LeaseAnswer> {
    if (call.aborted) return Promise.reject(call.signal.reason)
    if (this.#current !== undefined && this.#current.silence >= STALLED) {
      this.#current.retire()
      this.#current = undefined
    }
    this.#current ??= this.#begin()
    return this.#current.send(ID, call)
  }

  /** Ends all streams, and rejects all that was asked. */
  end(error: unknown): void {
    for (const stream of [...this.#streams]) stream.end(error)
  }

  #begin(): KeepAliveStream {
    const stream = new KeepAliveStream(this.#open(), this.#clock, () => {
      this.#streams.delete(stream)
      if (this.#current === stream) this.#current = undefined
    })
    this.#streams.add(stream)
    return stream
  }
}
