import type { Clock } from '@leasehold/core'

const { setImmediate: realTurn } = globalThis

interface Timer {
  readonly due: number
  readonly task: () => void
}

/**
 * A model of the event loop of Node, in virtual time. Each turn runs the timers that are due, and then the immediates that
 * were there before. Time passes only while code blocks the loop, and while nothing is due.
 */
export class EventLoop implements Clock {
  #now = 0
  readonly #timers = new Set<Timer>()
  #immediates: (() => void)[] = []

  now(): number {
    return this.#now
  }

  /** As the system clock does it: without a delay, in the next turn. */
  schedule(delay: number, task: () => void): () => void {
    if (delay <= 0) return this.immediate(task)
    const timer: Timer = { due: this.#now + Math.max(1, Math.trunc(delay)), task }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** `setImmediate`. */
  immediate(task: () => void): () => void {
    this.#immediates.push(task)
    return () => {
      this.#immediates = this.#immediates.filter((other) => other !== task)
    }
  }

  /** Code computes for so many milliseconds. */
  block(duration: number): void {
    this.#now += duration
  }

  /** Runs turns until this instant. */
  async runUntil(end: number): Promise<void> {
    while (this.#now < end) {
      await this.#runTimers()
      const immediates = this.#immediates
      this.#immediates = []
      for (const task of immediates) await this.#run(task)
      if (this.#immediates.length === 0) this.#now = Math.max(this.#now, Math.min(end, this.#next?.due ?? end))
    }
  }

  get #next(): Timer | undefined {
    return [...this.#timers].sort((one, other) => one.due - other.due)[0]
  }

  async #runTimers(): Promise<void> {
    for (let next = this.#next; next !== undefined && next.due <= this.#now; next = this.#next) {
      this.#timers.delete(next)
      await this.#run(next.task)
    }
  }

  /** All promise reactions run before the next task. */
  async #run(task: () => void): Promise<void> {
    task()
    await new Promise((resolve) => realTurn(resolve))
  }
}
