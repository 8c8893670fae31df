import type { LeaseRecord } from '../store/lease-record.js'

type Turn = IteratorResult<LeaseRecord | undefined, undefined>

interface PendingTurn {
  readonly promise: Promise<Turn>
  readonly resolve: (turn: Turn) => void
}

/**
 * One who listens to a name. What it is woken for while it does not listen is kept as one value: the record at the
 * time when it is asked for, for only that is of use.
 */
export class TurnWatcher implements AsyncIterator<LeaseRecord | undefined, undefined> {
  readonly #look: () => LeaseRecord | undefined
  #woken = false
  #ended = false
  #pending: PendingTurn | undefined
  #onEnd: (() => void) | undefined

  constructor(look: () => LeaseRecord | undefined) {
    this.#look = look
  }

  /** Calls back once when it has ended, at once where it has. */
  onEnd(callback: () => void): void {
    if (this.#ended) callback()
    else this.#onEnd = callback
  }

  /** Calls that wait at the same time get the same value. */
  next(): Promise<Turn> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    if (this.#woken) {
      this.#woken = false
      return Promise.resolve({ done: false, value: this.#look() })
    }
    this.#pending ??= createPending()
    return this.#pending.promise
  }

  return(): Promise<Turn> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  wake(): void {
    if (this.#pending === undefined) this.#woken = true
    else this.#settle({ done: false, value: this.#look() })
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#settle({ done: true, value: undefined })
    this.#onEnd?.()
    this.#onEnd = undefined
  }

  #settle(turn: Turn): void {
    this.#pending?.resolve(turn)
    this.#pending = undefined
  }
}

function createPending(): PendingTurn {
  let resolve: (turn: Turn) => void = () => {}
  const promise = new Promise<Turn>((resolvePromise) => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}
