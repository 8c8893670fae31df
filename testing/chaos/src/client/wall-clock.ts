/** A wall clock that is wrong, and is set back and forth. */
export class WallClock {
  readonly #machine = Date
  /** In milliseconds. */
  #lead: number

  constructor(lead: number) {
    this.#lead = lead
  }

  /** Whole milliseconds, as those of a machine. */
  now(): number {
    return Math.round(this.#machine.now() + this.#lead)
  }

  step(by: number): void {
    this.#lead += by
  }

  /**
   * All code of this process reads it from now on, such as the libraries that sign requests. None of them keeps `Date.now` from
   * before. Timers and monotonic clocks are not affected, as on a machine whose clock is set.
   */
  replaceDate(): void {
    const now = (): number => this.now()
    globalThis.Date = new Proxy(this.#machine, {
      construct: (date, args, target) => Reflect.construct(date, args.length === 0 ? [now()] : args, target),
      get: (date, key) => (key === 'now' ? now : Reflect.get(date, key)),
    })
  }
}
