/** The deadline of a self-fenced grant, as a message carries it; see `SharedDeadline` of core. */
export interface DeadlineSpec {
  readonly memory: SharedArrayBuffer
  readonly place: number
  /** How far the time of the memory is ahead of the shared time, in milliseconds. */
  readonly ahead: number
  readonly killAfter: number
  readonly askBefore: number
}

const NEVER = 0n

/**
 * Moves the deadline of a grant while the thread of its user is blocked. The user ends the keeping before it changes the
 * deadline itself, or gives its place to another grant. A word that has changed since it was read is left alone.
 */
export class KeptDeadline {
  readonly #spec: DeadlineSpec
  readonly #words: BigInt64Array
  readonly #isEnded: () => boolean

  constructor(spec: DeadlineSpec, isEnded: () => boolean) {
    this.#spec = spec
    this.#words = new BigInt64Array(spec.memory)
    this.#isEnded = isEnded
  }

  /** Moves the deadline on: the grant is valid until `validUntil`, in milliseconds of the shared time. */
  extend(validUntil: number): void {
    if (validUntil === Number.POSITIVE_INFINITY) return
    this.#move(validUntil, (known, next) => next > known)
  }

  /** The grant was lost now: its user has the time from now on to acknowledge that. */
  bringForward(now: number): void {
    this.#move(now, (known, next) => next < known)
  }

  #move(from: number, isWanted: (known: bigint, next: bigint) => boolean): void {
    const { place, ahead, killAfter, askBefore } = this.#spec
    const killAt = from + ahead + killAfter
    this.#change(2 * place + 1, killAt, isWanted)
    // A process that was asked already is not asked again.
    if (Number.isFinite(askBefore)) this.#change(2 * place, killAt - askBefore, isWanted)
  }

  #change(word: number, instant: number, isWanted: (known: bigint, next: bigint) => boolean): void {
    const next = BigInt(Math.floor(instant * 1e6))
    for (;;) {
      const known = Atomics.load(this.#words, word)
      if (known === NEVER || this.#isEnded() || !isWanted(known, next)) return
      if (Atomics.compareExchange(this.#words, word, known, next) === known) return
    }
  }
}
