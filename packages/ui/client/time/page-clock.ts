/** The source of time and timers of the page, so that tests can control time. */
export interface PageClock {
  /** Milliseconds on a monotonic axis, with the time that the computer slept. */
  now(): number
  /** Milliseconds since 1970, by the reader's computer. */
  wall(): number
  /** Runs `task` once after `delay` milliseconds, and returns a function that cancels it. */
  schedule(delay: number, task: () => void): () => void
}
