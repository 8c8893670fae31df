import { type CasStanding, type Seeing, standingOf } from './cas-records.js'
import type { CasEntry, CasRecord, CasVersion } from './cas-register.js'
import { Observations } from './observations.js'
import { provenAge } from './proven-age.js'

/** Where the records of a register stand, as far as this process has seen them, or the times of the store prove. */
export class Standings<V extends CasVersion> {
  readonly #longest: number
  readonly #clockError: number | undefined
  readonly #records: Observations<V>
  /** Since when the records were seen without the holders of their displaced grants. */
  readonly #displaced: Observations<string>

  /** `longest`: the cap on recorded durations; `clockError`: see {@link CasRegister.clockError}. In milliseconds. */
  constructor(longest: number, clockError?: number) {
    this.#longest = longest
    this.#clockError = clockError
    this.#records = new Observations(longest)
    this.#displaced = new Observations(longest)
  }

  see(name: string, entry: CasEntry<V>, now: number): CasStanding {
    const unchanged = this.#records.see(name, entry.version, now, provenAge(entry, this.#clockError))
    // While the record was unchanged, the holder of its displaced grant was not in it.
    const displaced = Math.max(this.#seeDisplaced(name, entry.record, now), unchanged)
    return standingOf(entry.record, { unchanged, displaced }, this.#longest)
  }

  forget(name: string): void {
    this.#records.forget(name)
    this.#displaced.forget(name)
  }

  /**
   * For how long the record was seen without the holder of its displaced grant. Writes of other programs do not stop this
   * time: none of them lets the holder renew its grant.
   */
  #seeDisplaced(name: string, { displaced }: CasRecord, now: number): Seeing['displaced'] {
    if (displaced !== undefined) return this.#displaced.see(name, `${displaced.grantId} ${displaced.renewals}`, now)
    this.#displaced.forget(name)
    return 0
  }
}
