import type { EventContext, LeaseRules } from '@leasehold/core/internal'

const PARENT_LOST = 1
const UNRESPONSIVE = 2

/** The values that the transition function read for one event, beside the instant and the rules. */
export interface Readings {
  readonly suspended: number
  readonly flags: number
  /** Random numbers, planned heartbeats and shared instants, in the order in which they were read. */
  readonly draws: ArrayLike<number> & { slice(from: number, to: number): Iterable<number> }
  readonly count: number
}

/** The longest list of draws that a transition can read: it makes a few. */
const MOST_DRAWS = 32

type Plan = ReturnType<EventContext['plan']>

/** The context of an event that notes what is read from it. One object serves all leases, because transitions do not nest. */
export class ReadingContext implements EventContext, Readings {
  flags = 0
  readonly draws = new Float64Array(MOST_DRAWS)
  count = 0
  #inner!: EventContext

  readonly random = (): number => this.#drawn(this.#inner.random())

  begin(inner: EventContext): this {
    this.#inner = inner
    this.flags = 0
    this.count = 0
    return this
  }

  get rules(): LeaseRules {
    return this.#inner.rules
  }

  get now(): number {
    return this.#inner.now
  }

  get suspended(): number {
    return this.#inner.suspended
  }

  get isParentLost(): boolean {
    const isLost = this.#inner.isParentLost
    if (isLost) this.flags |= PARENT_LOST
    return isLost
  }

  get isUnresponsive(): boolean {
    const isUnresponsive = this.#inner.isUnresponsive
    if (isUnresponsive) this.flags |= UNRESPONSIVE
    return isUnresponsive
  }

  plan(): Plan {
    const plan = this.#inner.plan()
    this.#drawn(plan.after)
    this.#drawn(plan.attemptTimeout)
    return plan
  }

  shared(at: number, now: number): number {
    return this.#drawn(this.#inner.shared(at, now))
  }

  #drawn(value: number): number {
    if (this.count < MOST_DRAWS) {
      this.draws[this.count] = value
      this.count += 1
    }
    return value
  }
}

/** The context that returns what was read when the event was recorded. A value that was not read then is `NaN`. */
export class RecordedContext implements EventContext {
  readonly rules: LeaseRules
  readonly now: number
  readonly suspended: number
  readonly isParentLost: boolean
  readonly isUnresponsive: boolean
  readonly #draws: Iterator<number>

  readonly random = (): number => this.#draw()

  constructor(rules: LeaseRules, now: number, { suspended, flags, draws, count }: Readings) {
    this.rules = rules
    this.now = now
    this.suspended = suspended
    this.isParentLost = (flags & PARENT_LOST) !== 0
    this.isUnresponsive = (flags & UNRESPONSIVE) !== 0
    this.#draws = draws.slice(0, count)[Symbol.iterator]()
  }

  plan(): Plan {
    return { after: this.#draw(), attemptTimeout: this.#draw() }
  }

  shared(): number {
    return this.#draw()
  }

  #draw(): number {
    const { value, done } = this.#draws.next()
    return done === true ? Number.NaN : value
  }
}
