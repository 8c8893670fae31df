import type { ClientDuplexStream } from '@grpc/grpc-js'
import { type StoreCall, untilAborted } from '@leasehold/core/store'
import type { LeaseAnswer } from './api.js'

interface Asked {
  readonly resolve: (answer: LeaseAnswer) => void
  readonly reject: (error: unknown) => void
}

type Stream = ClientDuplexStream<{ readonly ID: string }, LeaseAnswer>

/** The keep-alives of one member, over one stream. The server answers those of a lease in their order. */
export class KeepAlives {
  readonly #open: () => Stream
  #stream: Stream | undefined
  #asked = new Map<string, Asked[]>()

  constructor(open: () => Stream) {
    this.#open = open
  }

  /** Rejects with the error that ended the stream, or with the reason of the abort. */
  send(ID: string, call: StoreCall): Promise<LeaseAnswer> {
    if (call.aborted) return Promise.reject(call.signal.reason)
    const stream = this.#stream ?? this.#begin()
    const answer = new Promise<LeaseAnswer>((resolve, reject) => {
      const asked = this.#asked.get(ID) ?? []
      asked.push({ resolve, reject })
      this.#asked.set(ID, asked)
    })
    stream.write({ ID })
    return untilAborted(answer, call)
  }

  /** Ends the stream, with all that was asked: for a stream that is silent. */
  end(error: unknown): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#drop(stream, error)
    stream.cancel()
  }

  #begin(): Stream {
    const stream = this.#open()
    this.#stream = stream
    stream.on('data', (answer: LeaseAnswer) => {
      const asked = this.#asked.get(answer.ID)
      asked?.shift()?.resolve(answer)
      if (asked?.length === 0) this.#asked.delete(answer.ID)
    })
    stream.on('error', (error) => this.#drop(stream, error))
    stream.on('end', () => this.#drop(stream, new Error('the member has ended the stream of keep-alives')))
    return stream
  }

  #drop(stream: Stream, error: unknown): void {
    if (this.#stream !== stream) return
    const asked = [...this.#asked.values()].flat()
    this.#stream = undefined
    this.#asked = new Map()
    for (const { reject } of asked) reject(error)
  }
}
