import type { CasEntry } from '@leasehold/core/store'
import { Random } from '../../../packages/testkit/src/random.js'
import type { SimulationPlan } from './plan.js'

/** The step in which the nodes of the store show their time, and how far their clocks are apart, as parts of the ttl. */
const STEP = 0.05
const DIFFERENCE = 0.2

/** The stream of the seed: the draws shift no others. */
const STREAM = 21

/**
 * The times of a store of many nodes. Each reading is that of another node, whose clock was set a moment ago: it is as wrong
 * as the bound allows.
 */
export class StoreTimes {
  readonly clockError: number
  readonly #step: number
  readonly #difference: number
  readonly #now: () => number
  readonly #random: Random

  /** `now`: the true time of the store, on its own wall clock. */
  constructor({ seed, timeouts }: SimulationPlan, now: () => number) {
    this.#step = STEP * timeouts.heartbeatTimeout
    this.#difference = DIFFERENCE * timeouts.heartbeatTimeout
    this.clockError = this.#step + this.#difference
    this.#now = now
    this.#random = new Random(seed).fork(STREAM)
  }

  /** The time that one of the nodes shows now. */
  read(): number {
    const half = this.#difference / 2
    const wrong = this.#random.pick([-half, half, this.#random.between(-half, half)])
    return Math.floor((this.#now() + wrong) / this.#step) * this.#step
  }
}

/** A mark of a challenger, stored beside an entry. */
export interface StoredMark {
  readonly version: number
  readonly since: number
}

/** An entry as it is stored, with its time and its mark. */
export interface StoredEntry extends CasEntry<number> {
  readonly mark?: StoredMark | undefined
}
