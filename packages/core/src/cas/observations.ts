import type { CasVersion } from './cas-register.js'

/** The version of a record that was seen last, and since when it was seen. */
export interface Observation<V> {
  readonly version: V
  /** When this process last saw another version of the record. The record had that one then, so it is not older. */
  readonly after: number
  /** Since when the record has certainly had this version. */
  readonly since: number
  /** When this process last saw the record. */
  readonly seenAt: number
}

/** The observation of a record that is seen under this version now. `age`: see {@link Observations.see}. */
export function observe<V>(seen: Observation<V> | undefined, version: V, now: number, age = 0): Observation<V> {
  const isSame = seen?.version === version
  const after = (isSame ? seen.after : seen?.seenAt) ?? Number.NEGATIVE_INFINITY
  const since = Math.max(now - age, after)
  return { version, after, since: isSame ? Math.min(seen.since, since) : since, seenAt: now }
}

/** Up to this number of names, none is forgotten. */
const FEWEST = 256

/**
 * Which version of each name's record this process has seen, and since when the record has had it, on the clock of this
 * process. To forget one is safe: the record then has to be seen unchanged for its whole ttl once more.
 */
export class Observations<V extends CasVersion> {
  readonly #byName = new Map<string, Observation<V>>()
  readonly #longest: number
  #sweepAt = FEWEST

  /** `longest`: the longest ttl, in milliseconds. A record that was not seen for twice that is forgotten. */
  constructor(longest: number) {
    this.#longest = longest
  }

  get size(): number {
    return this.#byName.size
  }

  /**
   * For how long the record has certainly had this version: since it was seen first, and for `age` before `now`. The age is
   * that by the store's clock. It is limited to the time since this process last saw another version: the clock may have
   * been set.
   */
  see(name: string, version: V, now: number, age = 0): number {
    const seen = this.#byName.get(name)
    const next = observe(seen, version, now, age)
    this.#byName.set(name, next)
    if (this.#byName.size >= this.#sweepAt) this.#sweep(now)
    return now - next.since
  }

  forget(name: string): void {
    this.#byName.delete(name)
  }

  /** Runs each time the number of names has doubled, so that its cost for each name is constant. */
  #sweep(now: number): void {
    for (const [name, { seenAt }] of this.#byName) {
      if (now - seenAt > 2 * this.#longest) this.#byName.delete(name)
    }
    this.#sweepAt = Math.max(FEWEST, 2 * this.#byName.size)
  }
}
