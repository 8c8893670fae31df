import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { isSameLeader, type Leader, leaderOf } from './leader.js'

/**
 * Puts the records that one observer reads into an order: terms only grow, and a term that is over does not return. A store
 * with replicas, or a record that was restored, can show an older state after a newer one.
 */
export class LeaderHistory {
  readonly #name: string
  readonly #store: LeaseStore
  #isKnown = false
  #leader: Leader | undefined
  /** The largest term that is known to be over. */
  #over = -1n

  constructor(name: string, store: LeaseStore) {
    this.#name = name
    this.#store = store
  }

  /** The leader as last reported. */
  get leader(): Leader | undefined {
    return this.#leader
  }

  /** Whether the record is news. Throws a `LeaseConfigurationError` for the record of another recipe. */
  accept(record: LeaseRecord | undefined): boolean {
    const leader = leaderOf(record, this.#name, this.#store)
    return leader === undefined ? this.#acceptVacancy(record) : this.#acceptLeader(leader)
  }

  /** Whether the record only shows the leader as last reported, such as after a heartbeat. */
  isKnown(record: LeaseRecord): boolean {
    return this.#leader !== undefined && isSameLeader(this.#leader, leaderOf(record, this.#name, this.#store))
  }

  #acceptLeader(leader: Leader): boolean {
    const isStale = leader.term <= this.#over || leader.term < (this.#leader?.term ?? leader.term)
    if (isStale || isSameLeader(this.#leader, leader)) return false
    this.#isKnown = true
    this.#leader = leader
    this.#over = leader.term - 1n
    return true
  }

  #acceptVacancy(record: LeaseRecord | undefined): boolean {
    const last = this.#leader
    // The token of a lock without a known holder may be that of the holder.
    const ended = record === undefined || record.owner === '' ? undefined : record.fencingToken
    if (last !== undefined && ended !== undefined && ended < last.term) return false
    for (const term of [last?.term, ended]) if (term !== undefined && term > this.#over) this.#over = term
    const isNews = !this.#isKnown || last !== undefined
    this.#isKnown = true
    this.#leader = undefined
    return isNews
  }
}
