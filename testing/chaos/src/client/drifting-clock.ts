import { type Clock, systemClock } from '@leasehold/core'
import { machineTime } from '../record/machine-time.js'
import type { WallClock } from './wall-clock.js'

/** A clock of its own rate, with its own origin and a wall clock that is wrong. */
export class DriftingClock implements Clock {
  readonly #rate: number
  readonly #origin: number
  readonly #base = machineTime()
  readonly #wall: WallClock

  constructor(options: { readonly rate: number; readonly origin: number; readonly wall: WallClock }) {
    this.#rate = options.rate
    this.#origin = options.origin
    this.#wall = options.wall
  }

  now(): number {
    return this.#origin + (machineTime() - this.#base) * this.#rate
  }

  schedule(delay: number, task: () => void): () => void {
    return systemClock.schedule(delay / this.#rate, task)
  }

  wall(): number {
    return this.#wall.now()
  }

  /** The instant of the machine at which this clock shows this. */
  toMachineTime(instant: number): number {
    return this.#base + (instant - this.#origin) / this.#rate
  }
}
