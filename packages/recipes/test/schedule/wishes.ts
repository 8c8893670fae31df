/** After so many ttls an answer of the store that is still missing changes nothing any more. */
const FORGOTTEN = 5

/** A tick may start for so many ttls after a wish was confirmed: its holder has asked before, and was suspended since. */
const LATE = 2

/** The wishes of the operators of one simulation, as far as the answers that they got show them. */
export class Wishes {
  ttl = 0
  /** True time, in milliseconds. */
  now = 0
  paused = 0
  resumed = 0
  requested = 0
  /** No tick before this instant need be run: the ends of pauses and the skipped ticks, by the clocks of operators. */
  firstAdmitted = Number.NEGATIVE_INFINITY
  /** Since when a pause without an end is confirmed, and was certainly not ended. */
  #pausedSince: number | undefined
  /** When each skipped tick was confirmed. */
  readonly #skipped = new Map<number, number>()
  /** The changes that may end a pause, and may still be written: with the last instant of that. */
  readonly #ending = new Map<object, number>()
  /** Pauses without an end that may be in force, with the instant from which on they are not written any more. */
  readonly #pausing = new Map<object, number>()

  /** Whether a tick that starts now is against the wishes. */
  forbid(tick: number): boolean {
    const late = this.now - LATE * this.ttl
    return (
      (this.#pausedSince ?? Number.POSITIVE_INFINITY) < late ||
      (this.#skipped.get(tick) ?? Number.POSITIVE_INFINITY) < late
    )
  }

  get mayBePaused(): boolean {
    return this.#pausing.size > 0
  }

  /** A process reads its wall clock: if it ends a pause now, that is the end. */
  read(wall: number): Date {
    if (this.#isEnding) this.firstAdmitted = Math.max(this.firstAdmitted, wall)
    return new Date(wall)
  }

  async pause(write: () => Promise<unknown>): Promise<void> {
    const attempt = {}
    const wasEnding = this.#isEnding
    const endings = this.#ending.size
    this.#pausing.set(attempt, this.#forgottenAt)
    await write().finally(() => this.#pausing.set(attempt, this.now))
    this.paused += 1
    if (!wasEnding && !this.#isEnding && this.#ending.size === endings) this.#pausedSince = this.now
  }

  async pauseUntil(until: number, write: (until: Date) => Promise<unknown>): Promise<void> {
    this.firstAdmitted = Math.max(this.firstAdmitted, until)
    await this.#end(() => write(new Date(until)))
  }

  async resume(write: () => Promise<unknown>): Promise<void> {
    const start = this.now
    await this.#end(write)
    this.resumed += 1
    for (const [attempt, over] of this.#pausing) if (over < start) this.#pausing.delete(attempt)
  }

  async runNow(write: () => Promise<unknown>): Promise<void> {
    await write()
    this.requested += 1
  }

  async skip(tick: Date, write: () => Promise<unknown>): Promise<void> {
    this.firstAdmitted = Math.max(this.firstAdmitted, tick.getTime() + 1)
    await write()
    this.#skipped.set(tick.getTime(), this.now)
  }

  /** A change that may end a pause. */
  async #end(write: () => Promise<unknown>): Promise<void> {
    const attempt = {}
    this.#pausedSince = undefined
    this.#ending.set(attempt, this.#forgottenAt)
    await write()
    this.#ending.set(attempt, Number.NEGATIVE_INFINITY)
  }

  get #isEnding(): boolean {
    return [...this.#ending.values()].some((last) => last > this.now)
  }

  get #forgottenAt(): number {
    return this.now + FORGOTTEN * this.ttl
  }
}
