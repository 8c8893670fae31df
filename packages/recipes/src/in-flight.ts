/** Lets a limited number of tasks run at the same time; the others wait in order. */
export class InFlight {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#running >= this.#most
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    // A task that ends passes its place on.
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
