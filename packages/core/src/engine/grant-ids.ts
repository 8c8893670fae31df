import { randomUUID } from 'node:crypto'

/** How many ids share their random part: those that two hex digits can tell apart. */
const SHARED = 256

const endings = Array.from({ length: SHARED }, (_, ending) => ending.toString(16).padStart(2, '0'))

/**
 * Makes the GUIDs that are proposed for grants: 256 in a row differ in their last two digits only, since a random one
 * for each would cost as much as the rest of an acquisition in memory. They tell grants apart; they are no secrets.
 */
export class GrantIds {
  #shared = ''
  #next = SHARED

  next(): string {
    if (this.#next === SHARED) {
      this.#shared = randomUUID().slice(0, -2)
      this.#next = 0
    }
    const ending = endings[this.#next]
    this.#next += 1
    return this.#shared + ending
  }
}
