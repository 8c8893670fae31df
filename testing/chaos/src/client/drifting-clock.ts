import { type Clock, systemClock } from '@leasehold/core'
import { machineTime } from '../record/machine-time.js'

/** A clock of its own rate, with its own origin and a wall clock that is wrong, and is set back and forth. */
export class DriftingClock implements Clock {
  readonly #rate: number
  readonly #origin: number
  readonly #base = machineTime()
  #wallLead: number

  constructor(options: { readonly rate: number; readonly origin: number; readonly wallLead: number }) {
    this.#rate = options.rate
    this.#origin = options.origin
    this.#wallLead = options.wallLead
  }

  now(): number {
    return this.#origin + (machineTime() - this.#base) * this.#rate
  }

  schedule(delay: number, task: () => void): () => void {
    return systemClock.schedule(delay / this.#rate, task)
  }

  wall(): number {
    return (systemClock.wall?.() ?? 0) + this.#wallLead
  }

  stepWall(by: number): void {
    this.#wallLead += by
  }

  /** The instant of the machine at which this clock shows this. */
  toMachineTime(instant: number): number {
    return this.#base + (instant - this.#origin) / this.#rate
  }
}
