import type { PageClock } from './page-clock.js'

/** A wall clock that ran this much ahead of the monotonic clock means that the computer slept: that clock may stop meanwhile. */
const sleep = 2_000

/** The clock of the browser: the only file of the page that asks it for time and timers. */
export class BrowserClock implements PageClock {
  readonly #wallAtStart = Date.now() - performance.now()
  #slept = 0

  now(): number {
    const monotonic = performance.now()
    const ahead = Date.now() - this.#wallAtStart - monotonic - this.#slept
    if (ahead > sleep) this.#slept += ahead
    return monotonic + this.#slept
  }

  wall(): number {
    return Date.now()
  }

  schedule(delay: number, task: () => void): () => void {
    const timer = setTimeout(task, delay)
    return () => clearTimeout(timer)
  }
}
