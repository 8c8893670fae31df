import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@leasehold/core'

interface Timer {
  readonly order: number
  /** On the axis on which a suspend does not count, as the timers of an operating system. */
  readonly due: number
  readonly task: () => void
}

/**
 * A clock whose time passes only when a test says so. Timers that are due run in the order of their instants; between
 * two of them all promise reactions run, and what waits for the event loop's next turn.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>()
  #running = 0
  #suspended = 0
  #scheduled = 0

  now(): number {
    return this.#running + this.#suspended
  }

  suspended(): number {
    return this.#suspended
  }

  /** How many timers are armed: 0 where nothing was left behind. */
  get pending(): number {
    return this.#timers.size
  }

  schedule(delay: number, task: () => void): () => void {
    if (delay === Number.POSITIVE_INFINITY) return () => {}
    this.#scheduled += 1
    const timer = { order: this.#scheduled, due: this.#running + Math.max(delay, 0), task }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets `duration` milliseconds pass, running each timer at its instant. */
  async advance(duration: number): Promise<void> {
    const end = this.#running + duration
    await nextTurn()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#running = Math.max(this.#running, timer.due)
      this.#timers.delete(timer)
      timer.task()
      await nextTurn()
    }
    this.#running = end
  }

  /** Lets all promise reactions run, and timers that are due now; no time passes. */
  async settle(): Promise<void> {
    await this.advance(0)
  }

  /** A blocked event loop, a pause of the process: time passes and no timer runs, until the clock is advanced. */
  block(duration: number): void {
    this.#running += duration
  }

  /** A suspend of the machine: time passes, and the timers stand still, so that they run later by as much. */
  suspend(duration: number): void {
    this.#suspended += duration
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.due > end) continue
      if (next === undefined || timer.due < next.due || (timer.due === next.due && timer.order < next.order)) {
        next = timer
      }
    }
    return next
  }
}
