/**
 * The source of time and timers for all code here, so that tests can control time.
 *
 * Every instant is a number of milliseconds on one monotonic axis, with suspended time counted.
 */
export interface Clock {
  /**
   * The current instant, in milliseconds since an arbitrary origin. It never goes backwards, is not moved by steps
   * of the wall clock, and has moved on by the length of a suspend as soon as the process runs again.
   */
  now(): number

  /**
   * Runs `task` once, not before `delay` milliseconds have passed, and returns a function that cancels it.
   *
   * A timer never keeps the process alive by itself. After a suspend or a blocked event loop the task runs late:
   * code that decides on safety asks {@link Clock.now} when it runs.
   */
  schedule(delay: number, task: () => void): () => void

  /**
   * How many of the milliseconds counted by {@link Clock.now} the machine was suspended for, since the same origin.
   * Absent where a clock does not know; a loss is then reported as `expired`, never as `suspended`.
   */
  suspended?(): number

  /**
   * The wall clock in milliseconds since 1970, which may be set back and forth. For display only: no rule of a lease
   * depends on it. Absent where a clock does not know.
   */
  wall?(): number

  /**
   * Whether time passes only when a test advances it; `false` unless given. A call that is pending in virtual time does not
   * keep the process alive, because nothing but the test could end it.
   */
  readonly isVirtual?: boolean
}
