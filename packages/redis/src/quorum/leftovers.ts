import { type Clock, type Grant, LeaseTimeoutError, type ReleaseOutcome } from '@leasehold/core'
import type { Electorate } from './electorate.js'
import { KIND } from './undecided.js'

/** For how long it is tried, in milliseconds; whatever is left then expires. */
const LIMIT = 1_000

/** Frees, in the background, servers of what no majority came of, so that others find one sooner than a ttl later. */
export class Leftovers {
  readonly #electorate: Electorate
  readonly #clock: Clock
  readonly #underWay = new Set<Promise<void>>()

  constructor(electorate: Electorate, clock: Clock) {
    this.#electorate = electorate
    this.#clock = clock
  }

  /** Frees the servers at these places, also those that have not answered: on a connection, this comes after that. */
  free(grant: Grant, places: ReadonlySet<number>): void {
    const limit = new AbortController()
    const cancel = this.#clock.schedule(LIMIT, () => {
      limit.abort(new LeaseTimeoutError('a server was not freed in time', { leaseName: grant.name, store: KIND }))
    })
    const nothing: ReleaseOutcome = { released: false }
    const freeing: Promise<void> = this.#electorate
      .poll<ReleaseOutcome, true>(
        {
          ask: async (member, signal, place) => (places.has(place) ? await member.release(grant, signal) : nothing),
          decide: (tally) => (tally.isFinal ? true : undefined),
        },
        limit.signal,
      )
      // Nobody is there to be told, and what is left expires.
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        cancel()
        this.#underWay.delete(freeing)
      })
    this.#underWay.add(freeing)
  }

  /** Resolves when all were freed, or given up. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}
