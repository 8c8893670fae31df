import type { Clock } from '../clock.js'
import type { Circumstances } from './engine-event.js'
import type { Sources } from './sources.js'

/**
 * The circumstances of one event, each read when the transition first asks for it, and then the same to its end: many
 * events are decided without the time, and a clock costs more than a transition.
 */
export class Instant implements Circumstances {
  readonly #sources: Sources
  #now: number | undefined

  constructor(sources: Sources) {
    this.#sources = sources
  }

  isOf(clock: Clock): boolean {
    return (this.#sources.userClock ?? this.#sources.clock) === clock
  }

  get now(): number {
    this.#now ??= this.#sources.clock.now()
    return this.#now
  }

  get suspended(): number {
    return this.#sources.clock.suspended?.() ?? 0
  }

  get random(): number {
    return this.#sources.random()
  }
}
