import type { Clock } from '@leasehold/core'

/** The clock of one entity: a timer fires only while the entity may act. */
export class EntityClock {
  readonly #clock: Clock
  readonly #mayAct: () => boolean
  readonly #timers = new Map<number, () => void>()
  #last = 0

  constructor(clock: Clock, mayAct: () => boolean) {
    this.#clock = clock
    this.#mayAct = mayAct
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size
  }

  setTimeout(task: (...args: unknown[]) => void, delay: number): number {
    this.#last += 1
    const timer = this.#last
    const fire = (): void => {
      if (this.#timers.delete(timer) && this.#mayAct()) task()
    }
    this.#timers.set(timer, this.#clock.schedule(delay, fire))
    return timer
  }

  clearTimeout(timer: number): void {
    this.#timers.get(timer)?.()
    this.#timers.delete(timer)
  }

  /** Clears all timers. */
  clear(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }
}
