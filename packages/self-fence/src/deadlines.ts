import type { SharedTime } from '@leasehold/core/internal'

/** Two words of 64 bits for each place: when to ask the process to end, and when to kill it. */
const WORDS = 2
const BYTES = 16
const FIRST_PLACES = 64
const MOST_PLACES = 1_048_576

const NEVER = 0n

export function createDeadlineMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(FIRST_PLACES * BYTES, { maxByteLength: MOST_PLACES * BYTES })
}

/** The deadline of one grant. */
export interface Deadline {
  readonly place: number
  /** When to ask the process to end, and when to kill it, on the system clock. `Infinity` for never. */
  set(askAt: number, killAt: number): void
  /** Like `set`, unless the deadline is earlier already. */
  shorten(askAt: number, killAt: number): void
  /** Removes the deadline. */
  clear(): void
}

/**
 * The deadlines of grants, in memory that the watchdog reads. One thread adds and clears them. Another thread, which keeps a
 * grant, may move its deadline until the keeping has ended.
 */
export class Deadlines {
  readonly memory: SharedArrayBuffer
  /** The clock of the watchdog. */
  readonly time: Pick<SharedTime, 'bootOffset' | 'fromSystem' | 'now'>
  readonly #words: BigInt64Array
  readonly #free: number[] = []
  #places = 0

  constructor(memory: SharedArrayBuffer, time: Deadlines['time']) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
    this.time = time
  }

  /** Adds a deadline. `onCleared` is called when it is removed. */
  add(onCleared: () => void = () => {}): Deadline {
    const place = this.#free.pop() ?? this.#grow()
    let isCleared = false
    return {
      place,
      set: (askAt, killAt) => this.#set(place, askAt, killAt),
      shorten: (askAt, killAt) => this.#shorten(place, askAt, killAt),
      clear: () => {
        if (isCleared) return
        isCleared = true
        Atomics.store(this.#words, WORDS * place, NEVER)
        Atomics.store(this.#words, WORDS * place + 1, NEVER)
        this.#free.push(place)
        onCleared()
      },
    }
  }

  #shorten(place: number, askAt: number, killAt: number): void {
    const known = Atomics.load(this.#words, WORDS * place + 1)
    if (known === NEVER || known > this.#toWord(killAt)) this.#set(place, askAt, killAt)
  }

  #set(place: number, askAt: number, killAt: number): void {
    Atomics.store(this.#words, WORDS * place, this.#toWord(askAt))
    Atomics.store(this.#words, WORDS * place + 1, this.#toWord(killAt))
  }

  #grow(): number {
    const place = this.#places
    this.#places += 1
    const bytes = this.memory.byteLength
    if (this.#places * BYTES > bytes) this.memory.grow(2 * bytes)
    return place
  }

  /** The word for an instant of the system clock, in nanoseconds. */
  #toWord(instant: number): bigint {
    return instant === Number.POSITIVE_INFINITY ? NEVER : BigInt(Math.floor(this.time.fromSystem(instant) * 1e6))
  }
}
