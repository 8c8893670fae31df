import type { LeaseRecord, LeaseStore, TimeoutSettings } from '@leasehold/core'
import { backoff } from '@leasehold/core/store-kit'
import type { Leader } from './leader.js'

/** The longest pause between two reads, in milliseconds, where the store does not notify. */
const LONGEST_POLL = 5_000

/** How much longer the pauses are while a leader is known and the store notifies of its end. */
const SELDOM = 3

/** While there is no leader, a new one is likely soon: the first pause is this part of the usual one. */
const FIRST_PAUSE = 1 / 10
const GROWTH = 1.5

/** The shortest time between two reads, as a part of the usual pause: a watch may yield at every heartbeat. */
const SHORTEST_PAUSE = 1 / 20

/** The leader is not looked for at the very instant of its expiry, where the store's clock may not be there yet. Milliseconds. */
const AFTER_EXPIRY = 5

/** The pauses between two reads, in milliseconds. */
export class ReadPauses {
  readonly #usual: number
  /** While a leader is known. */
  readonly #seldom: number
  readonly #random: () => number
  #vacancies = 0

  constructor(store: LeaseStore, timeouts: TimeoutSettings, random: () => number) {
    this.#usual = usualPause(timeouts)
    this.#seldom = store.watch === undefined ? this.#usual : SELDOM * this.#usual
    this.#random = random
  }

  afterFailure(): { shortest: number; longest: number } {
    const longest = this.#jittered(this.#usual)
    return { shortest: longest, longest }
  }

  /** `shortest`: if the store notifies. */
  after(leader: Leader | undefined, record: LeaseRecord | undefined): { shortest: number; longest: number } {
    const shortest = this.#usual * SHORTEST_PAUSE
    if (leader === undefined) {
      const growing = this.#usual * FIRST_PAUSE * GROWTH ** this.#vacancies
      this.#vacancies += 1
      return { shortest, longest: this.#jittered(Math.min(growing, this.#usual)) }
    }
    this.#vacancies = 0
    const remaining: unknown = record?.remaining
    const atExpiry =
      typeof remaining === 'number' && remaining >= 0 ? remaining + AFTER_EXPIRY : Number.POSITIVE_INFINITY
    return { shortest, longest: Math.max(Math.min(this.#jittered(this.#seldom), atExpiry), shortest) }
  }

  #jittered(duration: number): number {
    return backoff(0, duration, duration, this.#random)
  }
}

/** The pause between two reads unless there is a reason for another one, in milliseconds. */
export function usualPause({ heartbeatTimeout }: TimeoutSettings): number {
  return Math.min(heartbeatTimeout / 10, LONGEST_POLL)
}
