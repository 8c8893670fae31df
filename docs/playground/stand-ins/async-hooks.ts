/**
 * Knows its value only until the work awaits something: a browser has nothing better. The engine uses it to reject work that
 * runs the lease that it stands under already, which nothing on this page does.
 */
export class AsyncLocalStorage<T> {
  #value: T | undefined

  getStore(): T | undefined {
    return this.#value
  }

  run<R>(value: T, work: () => R): R {
    const outer = this.#value
    this.#value = value
    try {
      return work()
    } finally {
      this.#value = outer
    }
  }

  disable(): void {
    this.#value = undefined
  }
}
