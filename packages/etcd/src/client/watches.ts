import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { closedError, untilAborted } from '@leasehold/core/store-kit'
import type { Message } from './api.js'
import type { EtcdClient } from './etcd-client.js'
import type { WatchStream } from './grpc-calls.js'

/** A stream with watches is asked for its progress at this pace, in milliseconds; one that stays silent is ended. */
const PROGRESS = 2_000

interface Opened {
  readonly stream: WatchStream
  readonly drop: () => void
}

export interface WatchedRange {
  readonly key: Buffer
  readonly rangeEnd?: Buffer
  /** The first revision whose events count. */
  readonly from: bigint
}

/** The watches of a store, over one stream. */
export class Watches {
  readonly #client: EtcdClient
  readonly #ending = new AbortableCall()
  #opening: Promise<Opened> | undefined
  readonly #wakes = new Map<string, () => void>()
  #nextId = 1
  #isHeard = true
  #cancelTimer: (() => void) | undefined

  constructor(client: EtcdClient) {
    this.#client = client
  }

  /**
   * Resolves when a key of the range was deleted, and also whenever events may have been missed: when the stream ends or is
   * silent, when the member loses its leader, and when the revision was compacted. So the caller has to look again.
   * Rejects with the reason of the abort, or when no stream can be opened.
   */
  async deletion({ key, rangeEnd, from }: WatchedRange, call: StoreCall): Promise<void> {
    if (this.#ending.aborted) throw this.#ending.signal.reason
    const opened = await untilAborted(this.#open(), call)
    if (call.aborted) throw call.signal.reason
    const watchId = String(this.#nextId)
    this.#nextId += 1
    const range = rangeEnd === undefined ? { key } : { key, rangeEnd }
    const woken = new Promise<void>((resolve) => {
      this.#wakes.set(watchId, resolve)
      opened.stream.write({ createRequest: { ...range, startRevision: String(from), filters: [0], watchId } })
    })
    this.#cancelTimer ??= this.#client.clock.schedule(PROGRESS, () => this.#look())
    try {
      await untilAborted(woken, call)
    } finally {
      if (this.#wakes.delete(watchId)) opened.stream.write({ cancelRequest: { watchId } })
    }
  }

  close(): void {
    this.#ending.abort(closedError('etcd'))
    this.#cancelTimer?.()
    this.#opening?.then(
      ({ stream }) => this.#end(stream),
      () => {},
    )
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#client.watch(this.#ending).then(
      (opened) => {
        this.#listen(opened)
        return opened
      },
      (error: unknown) => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  #listen({ stream, drop }: Opened): void {
    const current = this.#opening
    const end = (): void => {
      if (this.#opening !== current) return
      this.#opening = undefined
      drop()
      for (const wake of this.#wakes.values()) wake()
      this.#wakes.clear()
    }
    this.#isHeard = true
    stream.on('data', ({ watchId, canceled, events }: Message<'WatchResponse'>) => {
      this.#isHeard = true
      if (!canceled && events.length === 0) return
      const wake = this.#wakes.get(watchId)
      if (canceled) this.#wakes.delete(watchId)
      wake?.()
    })
    stream.on('error', end)
    stream.on('end', end)
  }

  /** Asks for progress; a stream that has not answered since the last time is ended, because its member hangs. */
  #look(): void {
    this.#cancelTimer = undefined
    if (this.#wakes.size === 0) return
    this.#cancelTimer = this.#client.clock.schedule(PROGRESS, () => this.#look())
    this.#opening?.then(
      ({ stream }) => {
        // After a blocked event loop, timers run before the answers that came meanwhile are read.
        setImmediate(() => {
          if (this.#isHeard) stream.write({ progressRequest: {} })
          else this.#end(stream)
          this.#isHeard = false
        })
      },
      () => {},
    )
  }

  #end(stream: Opened['stream']): void {
    stream.cancel()
    stream.emit('end')
  }
}
