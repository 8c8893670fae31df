/** An entry of the log: it stands at the place of its last change. */
export interface Logged {
  /** The number of its last change: larger for every later change. */
  version: number
}

/**
 * Entries in the order of their last changes, so that a reader who has seen everything up to a version needs to remember this
 * number only. Its size is bounded by the number of entries.
 */
export class ChangeLog<E extends Logged> {
  /** The places of all changes; one is out of date if its entry has changed again. */
  #places: { readonly version: number; readonly entry: E }[] = []
  #head = 0
  #count = 0

  /** The version of the last change. */
  get head(): number {
    return this.#head
  }

  add(entry: E): void {
    this.#count += 1
    this.touch(entry)
  }

  /** Moves an entry to the end. */
  touch(entry: E): void {
    this.#head += 1
    entry.version = this.#head
    this.#places.push({ version: this.#head, entry })
    if (this.#places.length > 2 * this.#count + 1_000) this.#places = this.#places.filter(isCurrent)
  }

  remove(entry: E): void {
    this.#count -= 1
    entry.version = -1
  }

  /** The entries that have changed since `from`, the earliest first. */
  *after(from: number): Generator<E, void, undefined> {
    const places = this.#places
    for (let index = this.#firstAfter(from); index < places.length; index += 1) {
      const place = places[index]
      if (place !== undefined && isCurrent(place)) yield place.entry
    }
  }

  #firstAfter(from: number): number {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle]?.version ?? 0) > from) high = middle
      else low = middle + 1
    }
    return low
  }
}

function isCurrent({ version, entry }: { readonly version: number; readonly entry: Logged }): boolean {
  return entry.version === version
}
