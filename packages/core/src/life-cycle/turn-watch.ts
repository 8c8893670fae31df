import type { LeaseRecord } from '../store/lease-record.js'

type Turn = IteratorResult<LeaseRecord | undefined, undefined>

/**
 * One iteration of `LeaseStore.watch`. Notifications that arrive between two calls of `next` become one value: the
 * record at the time of the call.
 */
export class TurnWatch implements AsyncIterator<LeaseRecord | undefined, undefined> {
  readonly #read: () => LeaseRecord | undefined
  #isNotified = false
  #isEnded = false
  #pending: Promise<Turn> | undefined
  #resolve: (turn: Turn) => void = () => {}
  #onEnd: (() => void) | undefined

  constructor(read: () => LeaseRecord | undefined) {
    this.#read = read
  }

  /** Calls back once when the iteration has ended, at once if it already has. */
  onEnd(callback: () => void): void {
    if (this.#isEnded) callback()
    else this.#onEnd = callback
  }

  /** Calls that wait at the same time get the same value. */
  next(): Promise<Turn> {
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    if (this.#isNotified) {
      this.#isNotified = false
      return Promise.resolve({ done: false, value: this.#read() })
    }
    this.#pending ??= new Promise((resolve) => {
      this.#resolve = resolve
    })
    return this.#pending
  }

  return(): Promise<Turn> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  notify(): void {
    if (this.#pending === undefined) this.#isNotified = true
    else this.#settle({ done: false, value: this.#read() })
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#settle({ done: true, value: undefined })
    this.#onEnd?.()
    this.#onEnd = undefined
  }

  #settle(turn: Turn): void {
    this.#resolve(turn)
    this.#pending = undefined
  }
}
