/** The initial capacity. All capacities are powers of two. */
const INITIAL_CAPACITY = 8

/** A first-in-first-out queue with constant cost per item. Grows without limit; the caller checks `length`. */
export class RingBuffer<T> {
  #room: (T | undefined)[] = []
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: T): void {
    if (this.#length === this.#room.length) this.#grow()
    this.#room[(this.#head + this.#length) & (this.#room.length - 1)] = item
    this.#length += 1
  }

  /** Removes and returns the oldest item. `undefined` if the buffer is empty. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#room[this.#head]
    this.#room[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#room.length - 1)
    this.#length -= 1
    // Frees the memory after a long queue was emptied.
    if (this.#length === 0 && this.#room.length > INITIAL_CAPACITY) this.#room = []
    return item
  }

  /** All items, oldest first. */
  toArray(): T[] {
    return [...this.#room.slice(this.#head), ...this.#room.slice(0, this.#head)].slice(0, this.#length) as T[]
  }

  #grow(): void {
    const room = this.toArray() as (T | undefined)[]
    room.length = Math.max(INITIAL_CAPACITY, this.#room.length * 2)
    this.#room = room
    this.#head = 0
  }
}
