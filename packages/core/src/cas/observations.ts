import type { CasVersion } from './cas-register.js'

interface Observation<V> {
  readonly version: V
  readonly since: number
}

/** Up to this number of names, none is forgotten. */
const FEWEST = 256

/**
 * Which version of each name's record this process has seen, and since when, on its own clock. To forget one is safe: the
 * record then has to be seen unchanged for its whole ttl once more.
 */
export class Observations<V extends CasVersion> {
  readonly #byName = new Map<string, Observation<V>>()
  readonly #longest: number
  #sweepAt = FEWEST

  /** `longest`: the longest ttl, in milliseconds. Observations that are older than twice that are dropped. */
  constructor(longest: number) {
    this.#longest = longest
  }

  get size(): number {
    return this.#byName.size
  }

  /** For how long the record has been seen under this version; 0 where it is the first time. */
  see(name: string, version: V, now: number): number {
    const seen = this.#byName.get(name)
    if (seen?.version === version) return now - seen.since
    this.#byName.set(name, { version, since: now })
    if (this.#byName.size >= this.#sweepAt) this.#sweep(now)
    return 0
  }

  forget(name: string): void {
    this.#byName.delete(name)
  }

  /** Runs each time the number of names has doubled, so that its cost for each name is constant. */
  #sweep(now: number): void {
    for (const [name, { since }] of this.#byName) {
      if (now - since > 2 * this.#longest) this.#byName.delete(name)
    }
    this.#sweepAt = Math.max(FEWEST, 2 * this.#byName.size)
  }
}
