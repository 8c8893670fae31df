/** Calls what looks every millisecond, all from one timer, and records how late it was. */
export class Ticker {
  readonly #lookers = new Set<() => void>()
  readonly #gaps: number[] = []
  #timer: NodeJS.Timeout | undefined
  #last: number | undefined

  constructor() {
    this.#timer = setInterval(() => this.#tick(), 1)
  }

  /** Milliseconds between two rounds, while there was a process to call. */
  get gaps(): readonly number[] {
    return this.#gaps
  }

  /** Calls until it returns `false`. */
  every(look: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const looker = (): void => {
        if (look()) return
        this.#lookers.delete(looker)
        resolve()
      }
      this.#lookers.add(looker)
    })
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const now = performance.now()
    if (this.#lookers.size === 0) {
      this.#last = undefined
      return
    }
    if (this.#last !== undefined) this.#gaps.push(now - this.#last)
    this.#last = now
    for (const look of this.#lookers) look()
  }
}
