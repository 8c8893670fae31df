/** How many of them are kept. */
const MOST_TIMES = 1_000

interface BlindTime {
  readonly from: number
  readonly to?: number
}

/** When the store could not be looked at. All instants are in milliseconds since 1970. */
export class BlindTimes {
  readonly #historyFor: number
  #times: BlindTime[] = []
  /** The last look that succeeded. */
  #lastSight: number | undefined
  #isBlind = false

  constructor(historyFor: number) {
    this.#historyFor = historyFor
  }

  get lastSight(): number | undefined {
    return this.#lastSight
  }

  /** A look has failed. */
  begin(): void {
    this.#isBlind = true
  }

  /** A look has succeeded. `longest`: the time since the last one without anything in between. */
  onSight(now: number, longest: number): void {
    const from = this.#lastSight
    const isLate = from !== undefined && now - from > longest
    if (from !== undefined && (this.#isBlind || isLate)) this.#times.push({ from, to: now })
    this.#isBlind = false
    this.#lastSight = now
    this.#times = this.#times.filter(({ to = now }) => to >= now - this.#historyFor).slice(-MOST_TIMES)
  }

  /** Those that touch this time. The last one has no end while it lasts. */
  within(start: number, end: number): readonly BlindTime[] {
    const times = this.#times.filter(({ from, to = end }) => from <= end && to >= start)
    const from = this.#lastSight
    if (this.#isBlind && from !== undefined && from <= end) times.push({ from })
    return times
  }
}
