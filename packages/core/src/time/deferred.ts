/** A promise that is settled from outside. */
export class Deferred<T> {
  readonly promise: Promise<T>
  #resolve: (value: T) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  resolve(value: T): void {
    this.#resolve(value)
  }

  reject(error: unknown): void {
    this.#reject(error)
  }
}
