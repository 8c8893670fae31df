/** The room that a buffer starts with; a power of two, as is every room that it grows to. */
const FIRST_ROOM = 8

/** First in, first out, at a constant cost an item. Grows without bound: whoever adds to it looks at `length`. */
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

  /** Takes out the oldest item; `undefined` where there is none. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#room[this.#head]
    this.#room[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#room.length - 1)
    this.#length -= 1
    // The room that a long wait needed is not kept for ever.
    if (this.#length === 0 && this.#room.length > FIRST_ROOM) this.#room = []
    return item
  }

  /** All items, the oldest first. */
  toArray(): T[] {
    return [...this.#room.slice(this.#head), ...this.#room.slice(0, this.#head)].slice(0, this.#length) as T[]
  }

  #grow(): void {
    const room = this.toArray() as (T | undefined)[]
    room.length = Math.max(FIRST_ROOM, this.#room.length * 2)
    this.#room = room
    this.#head = 0
  }
}
