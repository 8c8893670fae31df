/** Where the search for a place in the table begins; it grows when it is more than half full. */
const FIRST_CAPACITY = 1 << 16

/**
 * The states that were found, numbered in the order in which they were found: of each a hash of 64 bits, and the state
 * that it was found from. Two states with the same hash would count as one: among n states, that is to be expected n² / 2⁶⁵
 * times, for 10⁷ states three times in a million explorations.
 */
export class StateSet {
  #size = 0
  /** The numbers of the states, plus one; 0 where there is none. */
  #table = new Int32Array(FIRST_CAPACITY)
  #low = new Int32Array(FIRST_CAPACITY / 2)
  #high = new Int32Array(FIRST_CAPACITY / 2)
  #parents = new Int32Array(FIRST_CAPACITY / 2)
  /** The clients whose own steps were not taken from this state, as bits. */
  #asleep = new Uint8Array(FIRST_CAPACITY / 2)
  #hashLow = 0
  #hashHigh = 0

  get size(): number {
    return this.#size
  }

  /** The memory that the states take, in bytes. */
  get bytes(): number {
    return this.#table.byteLength + 3 * this.#low.byteLength + this.#asleep.byteLength
  }

  /** The number of the state with these bytes: as it was, or a new one, which is then equal to the size before. */
  add(bytes: Uint8Array, length: number, parent: number): number {
    this.hash(bytes, length)
    const [low, high] = [this.#hashLow, this.#hashHigh]
    const mask = this.#table.length - 1
    let place = (low ^ Math.imul(high, 0x9e3779b1)) & mask
    for (let number = this.#table[place] as number; number !== 0; number = this.#table[place] as number) {
      if (this.#low[number - 1] === low && this.#high[number - 1] === high) return number - 1
      place = (place + 1) & mask
    }
    const added = this.#size
    this.#size += 1
    this.#table[place] = this.#size
    this.#low[added] = low
    this.#high[added] = high
    this.#parents[added] = parent
    if (this.#size >= this.#low.length) this.#grow()
    return added
  }

  /** Whether the state with this number has these bytes. */
  isAt(number: number, bytes: Uint8Array, length: number): boolean {
    this.hash(bytes, length)
    return this.#low[number] === this.#hashLow && this.#high[number] === this.#hashHigh
  }

  parentOf(number: number): number {
    return this.#parents[number] as number
  }

  asleepAt(number: number): number {
    return this.#asleep[number] as number
  }

  setAsleep(number: number, asleep: number): void {
    this.#asleep[number] = asleep
  }

  /** Two hashes of 32 bits, each mixed as in MurmurHash3. */
  hash(bytes: Uint8Array, length: number): void {
    let low = 0x2545f491 ^ length
    let high = 0x4f6cdd1d ^ length
    for (let at = 0; at < length; at += 1) {
      const byte = bytes[at] as number
      low = Math.imul(low ^ byte, 0x85ebca6b)
      low ^= low >>> 13
      high = Math.imul(high ^ byte, 0xc2b2ae35)
      high ^= high >>> 15
    }
    low = Math.imul(low ^ (low >>> 16), 0x7feb352d)
    high = Math.imul(high ^ (high >>> 16), 0x846ca68b)
    this.#hashLow = low ^ (low >>> 15)
    this.#hashHigh = high ^ (high >>> 16)
  }

  #grow(): void {
    const capacity = this.#table.length * 2
    const table = new Int32Array(capacity)
    for (let number = 0; number < this.#size; number += 1) {
      let place = ((this.#low[number] as number) ^ Math.imul(this.#high[number] as number, 0x9e3779b1)) & (capacity - 1)
      while (table[place] !== 0) place = (place + 1) & (capacity - 1)
      table[place] = number + 1
    }
    this.#table = table
    this.#low = longer(this.#low, capacity / 2)
    this.#high = longer(this.#high, capacity / 2)
    this.#parents = longer(this.#parents, capacity / 2)
    const asleep = new Uint8Array(capacity / 2)
    asleep.set(this.#asleep)
    this.#asleep = asleep
  }
}

function longer(numbers: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const next = new Int32Array(length)
  next.set(numbers)
  return next
}
