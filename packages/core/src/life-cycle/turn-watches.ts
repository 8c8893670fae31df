import type { LeaseRecord } from '../store/lease-record.js'
import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { TurnWatch } from './turn-watch.js'
import { type TurnState, WatchedName } from './watched-name.js'

export interface TurnWatchesOptions {
  readonly clock: Clock
  /** The state of a name now. Must not throw. */
  readonly look: (name: string) => TurnState
  /** The record of a name now. Must not throw. */
  readonly read: (name: string) => LeaseRecord | undefined
  /** The longest time between two looks at a watched name, in milliseconds; not limited unless given. */
  readonly longestSleep?: number | undefined
  /** Called when the first watch of a name begins, and when its last watch has ended. */
  readonly onWatched?: ((name: string, isWatched: boolean) => void) | undefined
}

/** The watches of a store. */
export class TurnWatches {
  readonly #options: TurnWatchesOptions
  readonly #names = new Map<string, WatchedName>()

  constructor(options: TurnWatchesOptions) {
    this.#options = options
  }

  /** How many names are watched. */
  get size(): number {
    return this.#names.size
  }

  /**
   * A watch for `LeaseStore.watch`. It begins with the iteration, which rejects if `check` throws, and ends when the call
   * is aborted, or with `close`.
   */
  watch(
    name: string,
    call: StoreCall,
    grantId: string | undefined,
    check: () => void,
  ): AsyncIterable<LeaseRecord | undefined> {
    return {
      [Symbol.asyncIterator]: () => {
        try {
          check()
          return this.#add(name, call, grantId)
        } catch (error) {
          return { next: () => Promise.reject(error) }
        }
      },
    }
  }

  #add(name: string, call: StoreCall, grantId: string | undefined): TurnWatch {
    const watch = new TurnWatch(() => this.#options.read(name))
    if (call.aborted) {
      watch.end()
      return watch
    }
    const watched = this.#names.get(name) ?? this.#begin(name)
    watched.add(watch, grantId)
    const removeListener = call.onAbort(() => watch.end())
    watch.onEnd(() => {
      removeListener()
      watched.remove(watch, grantId)
      if (!watched.isEmpty || this.#names.get(name) !== watched) return
      this.#names.delete(name)
      this.#options.onWatched?.(name, false)
    })
    return watch
  }

  /** Must be called after each change of a name or its queue. */
  update(name: string): void {
    this.#names.get(name)?.update()
  }

  /** Ends all watches. */
  close(): void {
    for (const watched of [...this.#names.values()]) watched.close()
  }

  #begin(name: string): WatchedName {
    const { clock, look, longestSleep = Number.POSITIVE_INFINITY, onWatched } = this.#options
    const watched = new WatchedName(clock, () => look(name), longestSleep)
    this.#names.set(name, watched)
    onWatched?.(name, true)
    return watched
  }
}
