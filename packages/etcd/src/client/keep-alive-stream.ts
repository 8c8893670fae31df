import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { Clock } from '@leasehold/core'
import { type StoreCall, untilAborted } from '@leasehold/core/store'
import type { LeaseAnswer } from './api.js'

interface Asked {
  readonly resolve: (answer: LeaseAnswer) => void
  readonly reject: (error: unknown) => void
}

/** The call of gRPC. */
export type KeepAliveCall = ClientDuplexStream<{ readonly ID: string }, LeaseAnswer>

/** One stream of keep-alives. The server answers those of a lease in their order. */
export class KeepAliveStream {
  readonly #stream: KeepAliveCall
  readonly #clock: Clock
  readonly #onEnd: () => void
  readonly #asked = new Map<string, Asked[]>()
  /** How many callers wait for an answer. */
  #waiting = 0
  /** When it was last heard, or first asked after all answers had come. */
  #silentSince = 0
  #isRetired = false
  #hasEnded = false

  constructor(stream: KeepAliveCall, clock: Clock, onEnd: () => void) {
    this.#stream = stream
    this.#clock = clock
    this.#onEnd = onEnd
    stream.on('data', (answer: LeaseAnswer) => this.#take(answer))
    stream.on('error', (error) => this.#drop(error))
    stream.on('end', () => this.#drop(new Error('the member has ended the stream of keep-alives')))
  }

  /** For how many milliseconds it has owed an answer, and has been silent. */
  get silence(): number {
    return this.#asked.size === 0 ? 0 : this.#clock.now() - this.#silentSince
  }

  /** Rejects with the error that ended the stream, or with the reason of the abort. */
  async send(ID: string, call: StoreCall): Promise<LeaseAnswer> {
    if (this.#asked.size === 0) this.#silentSince = this.#clock.now()
    const answer = new Promise<LeaseAnswer>((resolve, reject) => {
      const asked = this.#asked.get(ID) ?? []
      asked.push({ resolve, reject })
      this.#asked.set(ID, asked)
    })
    this.#stream.write({ ID })
    this.#waiting += 1
    try {
      return await untilAborted(answer, call)
    } finally {
      this.#waiting -= 1
      if (this.#isRetired) this.#endIfUnused()
    }
  }

  /** Ends it as soon as no caller waits for an answer. Nothing may be sent any more. */
  retire(): void {
    this.#isRetired = true
    this.#endIfUnused()
  }

  end(error: unknown): void {
    this.#drop(error)
    this.#stream.cancel()
  }

  #endIfUnused(): void {
    if (this.#waiting === 0 && !this.#hasEnded) this.end(new Error('nobody waits for the keep-alives of this stream'))
  }

  #take(answer: LeaseAnswer): void {
    this.#silentSince = this.#clock.now()
    const asked = this.#asked.get(answer.ID)
    asked?.shift()?.resolve(answer)
    if (asked?.length === 0) this.#asked.delete(answer.ID)
  }

  #drop(error: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#onEnd()
    for (const { reject } of [...this.#asked.values()].flat()) reject(error)
    this.#asked.clear()
  }
}
