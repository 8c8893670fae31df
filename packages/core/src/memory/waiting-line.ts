/** The place of one waiter; alive as long as its request is repeated in time. */
export interface Place {
  readonly grantId: string
  /** When it is dead unless repeated before, on the store's clock. */
  aliveUntil: number
  previous: Place | undefined
  next: Place | undefined
}

/** From how many places on the dead ones among them are looked for. */
const SWEEP_FROM = 64

/**
 * Those who wait for a name, first come, first served. A linked list beside a map, for to take the first out of a big
 * array, or out of a map with many holes at its beginning, takes time in proportion to its length.
 */
export class WaitingLine {
  readonly #places = new Map<string, Place>()
  #first: Place | undefined
  #last: Place | undefined
  #sweepAt = SWEEP_FROM

  /** How many places are kept, dead ones that nobody has come upon among them. */
  get size(): number {
    return this.#places.size
  }

  /** Whose turn it is. The dead before it are forgotten. */
  first(now: number): Place | undefined {
    while (this.#first !== undefined && this.#first.aliveUntil <= now) this.remove(this.#first.grantId)
    return this.#first
  }

  /** Keeps the place alive until the given instant; whoever has none, or a dead one, goes to the end of the line. */
  keep(grantId: string, now: number, aliveUntil: number): void {
    const place = this.#places.get(grantId)
    if (place !== undefined && now < place.aliveUntil) {
      place.aliveUntil = aliveUntil
      return
    }
    this.remove(grantId)
    this.#sweep(now)
    this.#append({ grantId, aliveUntil, previous: this.#last, next: undefined })
  }

  remove(grantId: string): void {
    const place = this.#places.get(grantId)
    if (place === undefined) return
    this.#places.delete(grantId)
    if (place.previous === undefined) this.#first = place.next
    else place.previous.next = place.next
    if (place.next === undefined) this.#last = place.previous
    else place.next.previous = place.previous
  }

  #append(place: Place): void {
    if (this.#last === undefined) this.#first = place
    else this.#last.next = place
    this.#last = place
    this.#places.set(place.grantId, place)
  }

  /** Behind a first that lives long the dead would pile up. Done at each doubling, so that it costs little a place. */
  #sweep(now: number): void {
    if (this.size < this.#sweepAt) return
    for (const { grantId, aliveUntil } of this.#places.values()) {
      if (aliveUntil <= now) this.remove(grantId)
    }
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.size)
  }
}
