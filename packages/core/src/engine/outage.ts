import { reasonOf } from '../errors/shown-value.js'

/** The time from the first report of an outage to the second; it doubles from report to report. Milliseconds. */
const FIRST_REPEAT = 10_000
const LONGEST_REPEAT = 600_000

/** Decides which failures of an outage are logged: the first, then at growing intervals, so that a long one takes few lines. */
export class Outage {
  #logAt = Number.NEGATIVE_INFINITY
  #interval = FIRST_REPEAT
  /** The leases, or the recipe, that wait although the store has failed. */
  readonly #failing = new Set<object>()

  /** A lease, or a recipe, waits for the store. Returns whether it did not before. */
  begin(waiter: object): boolean {
    const before = this.#failing.size
    return this.#failing.add(waiter).size > before
  }

  /** Whether this lease, or recipe, waits for the store. */
  has(waiter: object): boolean {
    return this.#failing.has(waiter)
  }

  /** Whether a failure at this instant is to be logged. */
  isDue(now: number): boolean {
    if (now < this.#logAt) return false
    this.#logAt = now + this.#interval
    this.#interval = Math.min(2 * this.#interval, LONGEST_REPEAT)
    return true
  }

  /** One of them waits no more. Returns whether it was the last: then the outage is over. */
  end(waiter: object): boolean {
    if (!this.#failing.delete(waiter) || this.#failing.size > 0) return false
    this.#logAt = Number.NEGATIVE_INFINITY
    this.#interval = FIRST_REPEAT
    return true
  }
}

/** A change of what a waiting lease knows of its store. */
export type OutageEffect =
  /**
   * The wait goes on although the store has failed. `begins`: the store had answered before. `isLogged`: no other lease of
   * the store has logged it shortly before.
   */
  | { readonly type: 'unreachable'; readonly error: unknown; readonly begins: boolean; readonly isLogged: boolean }
  /** The store has answered again. `isLogged`: it has answered all leases that waited for it. */
  | { readonly type: 'reachable'; readonly isLogged: boolean }

/** One line for the log. The error has more: its listeners get it. */
export function outageMessage(effect: OutageEffect): string {
  if (effect.type === 'reachable') return 'the store has answered again'
  return `still waiting, because the store cannot be used: ${reasonOf(effect.error)}`
}
