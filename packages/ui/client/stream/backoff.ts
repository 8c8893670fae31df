/**
 * How long to wait before the next attempt: half a second, then twice as long each time, 15 seconds at most. The times are spread,
 * so that a hundred pages do not come back at once.
 */
export class Backoff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number) {
    this.#random = random
  }

  next(): number {
    const longest = Math.min(15_000, 500 * 2 ** this.#failures)
    this.#failures += 1
    return longest / 2 + (this.#random() * longest) / 2
  }

  reset(): void {
    this.#failures = 0
  }
}
