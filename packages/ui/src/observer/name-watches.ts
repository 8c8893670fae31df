import { type LeaseRecord, type LeaseStore, watchLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { backoff, pause, systemRandom } from '@leasehold/core/store-kit'
import type { CheckedUiOptions } from '../checked-options.js'

/** The watches of single names: one for all who look at the same name. */
export class NameWatches {
  readonly #store: LeaseStore
  readonly #options: CheckedUiOptions
  readonly #closing: AbortableCall
  readonly #onRecord: (name: string, record: LeaseRecord | undefined) => void
  readonly #watches = new Map<string, { readonly call: AbortableCall; readers: number }>()

  constructor(
    store: LeaseStore,
    options: CheckedUiOptions,
    closing: AbortableCall,
    onRecord: (name: string, record: LeaseRecord | undefined) => void,
  ) {
    this.#store = store
    this.#options = options
    this.#closing = closing
    this.#onRecord = onRecord
  }

  add(name: string): () => void {
    let watch = this.#watches.get(name)
    if (watch === undefined) {
      watch = { call: new AbortableCall(), readers: 0 }
      this.#watches.set(name, watch)
      void this.#watch(name, watch.call)
    }
    watch.readers += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      watch.readers -= 1
      if (watch.readers > 0) return
      this.#watches.delete(name)
      watch.call.abort()
    }
  }

  async #watch(name: string, call: AbortableCall): Promise<void> {
    const unlisten = this.#closing.onAbort(() => call.abort(this.#closing.signal.reason))
    const { clock, interval, timeout } = this.#options
    let failures = 0
    while (!call.aborted) {
      try {
        const options = { clock, interval, timeout, signal: call.signal, keepAlive: false }
        for await (const record of watchLease(this.#store, name, options)) {
          failures = 0
          if (!call.aborted) this.#onRecord(name, record)
        }
      } catch {
        // The listing tells the readers of it.
        failures += 1
        await pause(clock, backoff(failures - 1, interval, 10 * interval, systemRandom), call).catch(() => {})
      }
    }
    unlisten()
  }
}
