/** Random numbers that are the same for the same seed on every machine: splitmix32. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** From 0 to 1, 1 excluded. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0
    let mixed = this.#state ^ (this.#state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }

  /** From `least` to `most`, `most` excluded. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next()
  }

  /**
   * Returns a number from 2 to the power of `least` to 2 to the power of `most`, about as often in each order of magnitude.
   * Uses whole powers only: powers of fractions differ in their last digit between versions of Node.
   */
  magnitude(least: number, most: number): number {
    const exponent = this.between(least, most)
    const whole = Math.floor(exponent)
    return 2 ** whole * (1 + exponent - whole)
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** Whether something with this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0]
  }

  /** An independent stream: its draws do not shift those of this one. */
  fork(stream: number): Random {
    return new Random(Math.imul(this.#state ^ Math.imul(stream + 1, 0x85ebca6b), 0xc2b2ae35))
  }
}
