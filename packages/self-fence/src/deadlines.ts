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
  /** The grant needs no deadline any more. */
  clear(): void
}

/**
 * The deadlines of grants, in memory that the watchdog reads. One thread adds and clears them. Another thread may end a
 * deadline, or make it earlier, until the first one has cleared it and may use its place again.
 */
export class Deadlines {
  readonly memory: SharedArrayBuffer
  /** The clock of the watchdog. */
  readonly time: Pick<SharedTime, 'bootOffset' | 'fromSystem'>
  readonly #words: BigInt64Array
  readonly #free: number[] = []
  #places = 0

  constructor(memory: SharedArrayBuffer, time: Deadlines['time']) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
    this.time = time
  }

  /** `onCleared`: the grant needs its deadline no more. */
  add(onCleared: () => void = () => {}): Deadline {
    const place = this.#free.pop() ?? this.#grow()
    let isCleared = false
    return {
      place,
      set: (askAt, killAt) => this.#set(place, askAt, killAt),
      clear: () => {
        if (isCleared) return
        isCleared = true
        this.clear(place)
        this.#free.push(place)
        onCleared()
      },
    }
  }

  /** Makes a deadline earlier, if it is later. */
  shorten(place: number, askAt: number, killAt: number): void {
    const known = Atomics.load(this.#words, WORDS * place + 1)
    if (known === NEVER || known > this.#toWord(killAt)) this.#set(place, askAt, killAt)
  }

  /** The process is not to be ended for the grant with this deadline. */
  clear(place: number): void {
    Atomics.store(this.#words, WORDS * place, NEVER)
    Atomics.store(this.#words, WORDS * place + 1, NEVER)
  }

  /** Ends all deadlines but those of some places. */
  clearExcept(places: ReadonlySet<number>): void {
    for (let place = 0; WORDS * place < this.#words.length; place += 1) if (!places.has(place)) this.clear(place)
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

  /** In nanoseconds. */
  #toWord(instant: number): bigint {
    return instant === Number.POSITIVE_INFINITY ? NEVER : BigInt(Math.floor(this.time.fromSystem(instant) * 1e6))
  }
}
