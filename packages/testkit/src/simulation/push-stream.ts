/** A stream of values for one reader. It keeps only the last value that was not read yet. */
export class PushStream<T> implements AsyncIterableIterator<T> {
  readonly #onEnd: () => void
  #latest: { readonly value: T } | undefined
  #isOver = false
  #failure: Error | undefined
  #waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: unknown) => void } | undefined

  /** Calls `onEnd` once. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  push(value: T): void {
    if (this.#isOver) return
    if (this.#waiting === undefined) this.#latest = { value }
    else this.#answer({ done: false, value })
  }

  end(failure?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#onEnd()
    if (this.#waiting === undefined) return
    if (failure === undefined) this.#answer({ done: true, value: undefined })
    else {
      this.#waiting.reject(failure)
      this.#waiting = undefined
    }
  }

  next(): Promise<IteratorResult<T>> {
    const latest = this.#latest
    this.#latest = undefined
    if (latest !== undefined) return Promise.resolve({ done: false, value: latest.value })
    if (this.#isOver) {
      return this.#failure === undefined
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(this.#failure)
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  return(): Promise<IteratorResult<T>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #answer(result: IteratorResult<T>): void {
    this.#waiting?.resolve(result)
    this.#waiting = undefined
  }
}
