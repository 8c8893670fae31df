import { grantPlaceKey, placeKey, placeNumber, placesEnd } from './keys.js'
import type { SharedDatabase } from './shared-database.js'
import { isDead, type WaiterProcess } from './waiter-process.js'

/** A place in the queue of a name, as it is in the database. */
export interface Place {
  readonly grantId: string
  readonly process: WaiterProcess
  /** Until when the request must be repeated, in milliseconds since boot. */
  readonly keptUntil: number
}

interface NumberedPlace extends Place {
  readonly number: number
}

/** Who waits for each name, first come, first served. A step costs the same however many wait. */
export class WaitQueue {
  readonly #entries: SharedDatabase
  readonly #self: WaiterProcess

  constructor(entries: SharedDatabase, self: WaiterProcess) {
    this.#entries = entries
    this.#self = self
  }

  /** Whose turn it is: the first who is neither dead nor has given up. A read. */
  first(name: string, now: number): Place | undefined {
    for (const place of this.#places(name)) if (!this.#isStale(place, now)) return place
    return undefined
  }

  /** Removes those before the first; tells whether there were any. In a write transaction. */
  removeStale(name: string, now: number): boolean {
    const stale: NumberedPlace[] = []
    for (const place of this.#places(name)) {
      if (!this.#isStale(place, now)) break
      stale.push(place)
    }
    for (const { number, grantId } of stale) this.#remove(name, number, grantId)
    return stale.length > 0
  }

  /** Keeps the place that the grant id has, or gives it the last one. In a write transaction. */
  keep(name: string, grantId: string, keptUntil: number): void {
    const place: Place = { grantId, process: this.#self, keptUntil }
    const number = this.#numberOf(name, grantId)
    if (number !== undefined) {
      this.#entries.put(placeKey(name, number), JSON.stringify(place))
      return
    }
    const last = this.#entries.lastKey(placeKey(name, 0), placesEnd(name))
    const next = last === undefined ? 1 : placeNumber(last) + 1
    this.#entries.put(placeKey(name, next), JSON.stringify(place))
    this.#entries.put(grantPlaceKey(name, grantId), String(next))
  }

  /** Gives up the place of a grant id, if it has one; tells whether it had. In a write transaction. */
  leave(name: string, grantId: string): boolean {
    const number = this.#numberOf(name, grantId)
    if (number === undefined) return false
    this.#remove(name, number, grantId)
    return true
  }

  isEmpty(name: string): boolean {
    return this.#entries.lastKey(placeKey(name, 0), placesEnd(name)) === undefined
  }

  *#places(name: string): Generator<NumberedPlace, void, undefined> {
    for (const { key, value } of this.#entries.range(placeKey(name, 0), placesEnd(name))) {
      yield { ...(JSON.parse(value) as Place), number: placeNumber(key) }
    }
  }

  #isStale(place: Place, now: number): boolean {
    return now >= place.keptUntil || isDead(place.process, this.#self)
  }

  #numberOf(name: string, grantId: string): number | undefined {
    const number = this.#entries.get(grantPlaceKey(name, grantId))
    return number === undefined ? undefined : Number(number)
  }

  #remove(name: string, number: number, grantId: string): void {
    this.#entries.remove(placeKey(name, number))
    this.#entries.remove(grantPlaceKey(name, grantId))
  }
}
