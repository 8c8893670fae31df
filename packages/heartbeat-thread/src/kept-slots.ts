/**
 * Four 64-bit words for each kept grant. Two are instants in nanoseconds of the shared time: when the last confirmed
 * heartbeat of the thread was sent, and when that of the user was sent. The third is a note of the thread, and the fourth
 * says whether the user has ended the keeping.
 */
const WORDS = 4
const OWN = 0
const PASSED = 1
const NOTE = 2
const ENDED = 3
const BYTES = WORDS * BigInt64Array.BYTES_PER_ELEMENT
const FIRST_SLOTS = 256
const MOST_SLOTS = 4_194_304

const NEVER = 0n
const UNRESPONSIVE = 1n
const REFUSED = 2n

/** The state of the kept grants, in memory that the heartbeat thread and the user share. */
export class KeptSlots {
  readonly memory: SharedArrayBuffer
  readonly #words: BigInt64Array
  readonly #free: number[] = []
  #slots = 0

  constructor(memory = new SharedArrayBuffer(FIRST_SLOTS * BYTES, { maxByteLength: MOST_SLOTS * BYTES })) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
  }

  /** A slot that no grant uses. Only for the thread that made the memory. */
  take(): number {
    const slot = this.#free.pop() ?? this.#grow()
    for (let word = 0; word < WORDS; word += 1) Atomics.store(this.#words, WORDS * slot + word, NEVER)
    return slot
  }

  /** Gives back a slot that the other thread does not use any more. */
  giveBack(slot: number): void {
    this.#free.push(slot)
  }

  /** Notes a confirmed heartbeat that was sent at this instant. `isOwn`: the thread sent it by itself, not for the user. */
  confirm(slot: number, sentAt: number, isOwn: boolean): void {
    Atomics.store(this.#words, WORDS * slot + (isOwn ? OWN : PASSED), BigInt(Math.floor(sentAt * 1e6)))
    Atomics.compareExchange(this.#words, WORDS * slot + NOTE, UNRESPONSIVE, NEVER)
  }

  refuse(slot: number): void {
    Atomics.store(this.#words, WORDS * slot + NOTE, REFUSED)
  }

  /** Notes that a due heartbeat was not sent, because the user showed no sign of life. */
  noteSilence(slot: number): void {
    Atomics.compareExchange(this.#words, WORDS * slot + NOTE, NEVER, UNRESPONSIVE)
  }

  /** From now on the thread changes nothing for the grant. */
  end(slot: number): void {
    Atomics.store(this.#words, WORDS * slot + ENDED, 1n)
  }

  isEnded(slot: number): boolean {
    return Atomics.load(this.#words, WORDS * slot + ENDED) !== NEVER
  }

  isRefused(slot: number): boolean {
    return Atomics.load(this.#words, WORDS * slot + NOTE) === REFUSED
  }

  isUnresponsive(slot: number): boolean {
    return Atomics.load(this.#words, WORDS * slot + NOTE) === UNRESPONSIVE
  }

  /** When the last confirmed heartbeat of the thread was sent, in milliseconds; 0 before the first. */
  ownAt(slot: number): number {
    return Number(Atomics.load(this.#words, WORDS * slot + OWN)) / 1e6
  }

  /** When the last confirmed heartbeat of the user was sent, in milliseconds; 0 before the first. */
  passedAt(slot: number): number {
    return Number(Atomics.load(this.#words, WORDS * slot + PASSED)) / 1e6
  }

  #grow(): number {
    const slot = this.#slots
    this.#slots += 1
    const { byteLength } = this.memory
    if (this.#slots * BYTES > byteLength) this.memory.grow(2 * byteLength)
    return slot
  }
}
