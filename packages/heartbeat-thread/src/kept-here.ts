import type { Grant } from '@leasehold/core'
import type { KeptGrant, SharedTime } from '@leasehold/core/internal'
import type { KeptSlots } from './kept-slots.js'

/** The thread that keeps a grant, as the user of the grant sees it. */
interface Keeping {
  readonly time: SharedTime
  readonly slots: KeptSlots
  readonly hasEnded: boolean
  /** Ends the keeping of a grant. The slot is given back when the thread knows it. */
  unkeep(slot: number): void
}

/** An instant of the shared time, and the same on the system clock: it is converted once, because that reads both clocks. */
interface Converted {
  shared: number
  here: number
}

const before = (): Converted => ({ shared: 0, here: Number.NEGATIVE_INFINITY })

/** A grant that the heartbeat thread keeps. */
export class KeptHere implements KeptGrant {
  readonly grant: Grant
  refusal: KeptGrant['refusal']
  readonly #keeping: Keeping
  readonly #slot: number
  readonly #own = before()
  readonly #passed = before()

  constructor(keeping: Keeping, slot: number, grant: Grant) {
    this.#keeping = keeping
    this.#slot = slot
    this.grant = grant
  }

  get ownAt(): number {
    return this.#convert(this.#own, this.#keeping.slots.ownAt(this.#slot))
  }

  get confirmedAt(): number {
    return Math.max(this.ownAt, this.#convert(this.#passed, this.#keeping.slots.passedAt(this.#slot)))
  }

  get isOver(): boolean {
    return this.#keeping.hasEnded || this.#keeping.slots.isRefused(this.#slot)
  }

  get isUnresponsive(): boolean {
    return this.#keeping.slots.isUnresponsive(this.#slot)
  }

  end(): void {
    this.#keeping.slots.end(this.#slot)
    this.#keeping.unkeep(this.#slot)
  }

  #convert(known: Converted, shared: number): number {
    if (shared !== known.shared) {
      known.shared = shared
      known.here = this.#keeping.time.toSystem(shared)
    }
    return known.here
  }
}
