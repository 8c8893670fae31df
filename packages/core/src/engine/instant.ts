import type { Clock } from '../clock.js'
import type { Circumstances } from './engine-event.js'

/**
 * The circumstances of one event, each read when the transition first asks for it, and then the same to its end: many
 * events are decided without the time, and a clock costs more than a transition.
 */
export class Instant implements Circumstances {
  readonly #clock: Clock
  #now: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isOf(clock: Clock): boolean {
    return this.#clock === clock
  }

  get now(): number {
    this.#now ??= this.#clock.now()
    return this.#now
  }

  get suspended(): number {
    return this.#clock.suspended?.() ?? 0
  }

  get random(): number {
    return Math.random()
  }
}
