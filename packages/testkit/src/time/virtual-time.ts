import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkOptionNames } from '@leasehold/core/store-kit'

interface Entry {
  readonly due: number
  task: (() => void) | undefined
}

/** The largest number of turns of the event loop for which time waits while something is busy. */
const MOST_TURNS = 100

export interface VirtualTimeOptions {
  /**
   * Whether something is at work that takes turns of the event loop, such as a store on disk, so that time has to stand
   * still meanwhile; nothing unless given.
   */
  readonly isBusy?: (() => boolean) | undefined
  /**
   * Runs between two checks whether it is busy, where the work is in another process: turns of our own
   * event loop do not say how long to wait for it. It ends the waiting by resolving with `false`.
   */
  readonly waitOutside?: ((looks: number) => Promise<boolean>) | undefined
}

/**
 * True time, which passes only when a test says so, with its scheduled tasks. Tasks run in the order of their
 * instants. Between two of them all promise reactions and immediates run.
 */
export class VirtualTime {
  /** In the order of their instants, and then of the calls. */
  readonly #entries: Entry[] = []
  readonly #isBusy: () => boolean
  readonly #waitOutside: (looks: number) => Promise<boolean>
  #now = 0

  constructor(options: VirtualTimeOptions = {}) {
    checkOptionNames<VirtualTimeOptions>('VirtualTime', options, { isBusy: true, waitOutside: true })
    const { isBusy = () => false, waitOutside = async () => false } = options
    this.#isBusy = isBusy
    this.#waitOutside = waitOutside
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now
  }

  /** Runs the task `delay` milliseconds from now; returns a function that cancels it. */
  schedule(delay: number, task: () => void): () => void {
    const entry: Entry = { due: this.#now + Math.max(delay, 0), task }
    this.#entries.splice(this.#placeAfter(entry.due), 0, entry)
    return () => {
      entry.task = undefined
    }
  }

  /** Lets `duration` milliseconds pass, running each task at its instant. */
  async advance(duration: number): Promise<void> {
    await this.advanceUntil(() => false, duration)
  }

  /** Lets time pass until `isOver`, `longest` milliseconds at most; resolves with whether it is over. */
  async advanceUntil(isOver: () => boolean, longest: number): Promise<boolean> {
    const end = this.#now + longest
    await this.#settle()
    while (!isOver()) {
      if (!this.step(end)) {
        this.#now = end
        return isOver()
      }
      await this.#settle()
    }
    return true
  }

  /** Runs the next task that is due by `end`, if there is one. */
  step(end: number): boolean {
    for (;;) {
      const next = this.#entries[0]
      if (next === undefined || next.due > end) return false
      this.#entries.shift()
      const { task } = next
      if (task === undefined) continue
      this.#now = Math.max(this.#now, next.due)
      task()
      return true
    }
  }

  /** Lets time pass without running any task: tasks that are due meanwhile run late. */
  skip(duration: number): void {
    this.#now += duration
  }

  /** Waits until all promise reactions have run and nothing is busy. */
  async #settle(): Promise<void> {
    await nextTurn()
    for (let turns = 0; turns < MOST_TURNS && this.#isBusy(); turns += 1) await nextTurn()
    for (let looks = 0; this.#isBusy() && (await this.#waitOutside(looks)); looks += 1) await nextTurn()
  }

  /** The number of entries that are due by then. A binary search: a simulation can have 100,000 timers. */
  #placeAfter(due: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && entry.due <= due) low = middle + 1
      else high = middle
    }
    return low
  }
}
