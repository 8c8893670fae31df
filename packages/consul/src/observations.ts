import { RecentMap } from '@leasehold/core/store'

/** How many keys are remembered. */
const MOST_KEYS = 10_000

/** For how long this process has seen keys unchanged, on its own clock. */
export class Observations {
  readonly #seen = new RecentMap<{ readonly modifyIndex: number; readonly since: number }>(MOST_KEYS)

  /** The milliseconds for which the key has been seen with this index, until `now`. */
  see(key: string, modifyIndex: number, now: number): number {
    const seen = this.#seen.get(key)
    if (seen?.modifyIndex === modifyIndex) return now - seen.since
    this.#seen.set(key, { modifyIndex, since: now })
    return 0
  }
}
