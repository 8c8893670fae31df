/** A time in which a node may act, or in which the store keeps the name for one. Milliseconds since the world began. */
export interface Tenure {
  readonly node: number
  readonly fencingToken: bigint
  readonly from: number
  to: number
  /** Whether it still goes on. */
  isOpen: boolean
}

/** How one lane is now. */
interface Present {
  readonly node: number
  readonly fencingToken: bigint
  /** When it ends unless it is renewed. */
  readonly until: number
}

/** The tenures of one lane of the timeline, from looks at the present. */
export class Tenures {
  readonly #all: Tenure[] = []
  /** When the open one ends, as far as was known at the last look. */
  #until = 0

  get all(): readonly Tenure[] {
    return this.#all
  }

  /** `present`: `undefined` where there is none. */
  look(now: number, present: Present | undefined): void {
    const open = this.#all.at(-1)
    if (open?.isOpen === true) {
      if (present !== undefined && open.fencingToken === present.fencingToken && open.node === present.node) {
        open.to = now
        this.#until = present.until
        return
      }
      // It may have ended between two looks.
      open.to = Math.max(open.from, Math.min(now, this.#until))
      open.isOpen = false
    }
    if (present === undefined) return
    this.#until = present.until
    const { node, fencingToken } = present
    this.#all.push({ node, fencingToken, from: now, to: now, isOpen: true })
  }
}
