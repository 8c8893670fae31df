/** Two 64-bit words for each lease: the end of its validity, in nanoseconds of the shared time, and the number of the grant. */
const WORDS = 2
const FIRST_SLOTS = 256
const MOST_SLOTS = 4_194_304

/** Nothing is held. */
const NEVER = 0n
/** The lease does not expire. */
const FOREVER = 2n ** 62n

/**
 * The validity of the leases, in memory that the heartbeat thread writes and the user reads. The end of a grant is written
 * before the number of the next one, and read before its number: a reader that compares numbers never takes the validity of
 * one grant for that of another.
 */
export class LeaseSlots {
  readonly memory: SharedArrayBuffer
  readonly #words: BigInt64Array
  readonly #free: number[] = []
  #slots = 0

  constructor(memory = new SharedArrayBuffer(FIRST_SLOTS * WORDS * 8, { maxByteLength: MOST_SLOTS * WORDS * 8 })) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
  }

  /** A slot that no lease uses. Only for the thread that made the memory. */
  take(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const slot = this.#slots
    this.#slots += 1
    const bytes = this.memory.byteLength
    if (this.#slots * WORDS * 8 > bytes) this.memory.grow(2 * bytes)
    return slot
  }

  giveBack(slot: number): void {
    this.end(slot)
    this.#free.push(slot)
  }

  /** The grant with this number is valid until then, in milliseconds of the shared time. */
  write(slot: number, grant: number, validUntil: number): void {
    const [end, number] = [WORDS * slot, WORDS * slot + 1]
    if (Atomics.load(this.#words, number) !== BigInt(grant)) {
      Atomics.store(this.#words, end, NEVER)
      Atomics.store(this.#words, number, BigInt(grant))
    }
    const instant = validUntil === Number.POSITIVE_INFINITY ? FOREVER : BigInt(Math.floor(validUntil * 1e6))
    Atomics.store(this.#words, end, instant)
  }

  /** No grant is valid. */
  end(slot: number): void {
    Atomics.store(this.#words, WORDS * slot, NEVER)
  }

  endAll(): void {
    for (let word = 0; word < this.#words.length; word += WORDS) Atomics.store(this.#words, word, NEVER)
  }

  /** Until when the grant with this number is valid, in milliseconds of the shared time; `-Infinity` if it is over. */
  read(slot: number, grant: number): number {
    const end = Atomics.load(this.#words, WORDS * slot)
    if (end === NEVER || Number(Atomics.load(this.#words, WORDS * slot + 1)) !== grant) return Number.NEGATIVE_INFINITY
    return end === FOREVER ? Number.POSITIVE_INFINITY : Number(end) / 1e6
  }
}
