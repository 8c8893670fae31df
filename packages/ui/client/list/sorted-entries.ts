import type { Entry } from './entry.js'
import type { Comparison } from './order.js'

/** Entries in order. One that changes is taken out and put in by halving: to sort ten thousand again takes a whole frame. */
export class SortedEntries {
  readonly #compare: Comparison
  readonly #entries: Entry[]

  constructor(compare: Comparison, entries: Iterable<Entry>) {
    this.#compare = compare
    this.#entries = [...entries].sort(compare)
  }

  get entries(): readonly Entry[] {
    return this.#entries
  }

  insert(entry: Entry): void {
    this.#entries.splice(this.#placeOf(entry), 0, entry)
  }

  /** `entry`: the very object that was inserted. */
  remove(entry: Entry): void {
    const place = this.#placeOf(entry)
    if (this.#entries[place] === entry) this.#entries.splice(place, 1)
  }

  replace(before: Entry, after: Entry): void {
    const place = this.#placeOf(before)
    const previous = this.#entries[place - 1]
    const next = this.#entries[place + 1]
    // Most changes leave the row where it is.
    const stays =
      this.#entries[place] === before &&
      (previous === undefined || this.#compare(previous, after) < 0) &&
      (next === undefined || this.#compare(after, next) < 0)
    if (stays) {
      this.#entries[place] = after
      return
    }
    this.remove(before)
    this.insert(after)
  }

  /** The place of the first entry that is not before `entry`. */
  #placeOf(entry: Entry): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#entries[middle] as Entry, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
