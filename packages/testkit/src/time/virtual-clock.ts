import type { Clock } from '@leasehold/core'
import type { ClockReadings } from '@leasehold/core/internal'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { VirtualTime } from './virtual-time.js'

/** Rounding errors: a timer this close is due, and its clock is set to its instant. */
const ROUNDING = 1e-6

/** The resolution of the boot clock of Linux, in milliseconds. */
const BOOT_STEP = 10

/** The wall clock of a machine without skew, at the beginning. */
const EPOCH = Date.UTC(2026, 0, 1)

export interface VirtualClockOptions {
  /** The time that the clock shows, which other clocks may share; one of its own unless given. */
  readonly time?: VirtualTime | undefined
  /** By how much it runs fast (0.005: by half a percent) or, negative, slow; 0 unless given. */
  readonly drift?: number | undefined
  /** By how much its wall clock is ahead of the true time, in milliseconds; 0 unless given. */
  readonly skew?: number | undefined
}

interface Timer {
  /** An instant on the axis without suspends, as for the timers of an operating system. */
  readonly due: number
  readonly task: () => void
  cancel: () => void
}

/**
 * The clock of a machine whose time passes only when a test says so: monotonic, with suspended time counted. Timers that
 * are due run in the order of their instants; between two of them all promise reactions run. Clocks of one
 * {@link VirtualTime} are those of several machines: each with a drift, a skew, pauses and suspends of its own.
 */
export class VirtualClock implements Clock {
  readonly time: VirtualTime
  readonly isVirtual = true
  readonly #rate: number
  readonly #timers = new Set<Timer>()
  /** The tasks that were due while the machine was paused, in order. */
  readonly #late: (() => void)[] = []
  #wallAhead: number
  /** Both axes at the true instant `#since`. Since then, one of them has advanced. */
  #running = 0
  #suspended = 0
  #since: number
  #state: 'running' | 'stopped' | 'suspended' = 'running'

  constructor(options: VirtualClockOptions = {}) {
    checkOptionNames<VirtualClockOptions>('VirtualClock', options, { time: true, drift: true, skew: true })
    const { time = new VirtualTime(), drift = 0, skew = 0 } = options
    this.time = time
    this.#rate = 1 + drift
    this.#wallAhead = EPOCH + time.now + skew
    this.#since = time.now
  }

  now(): number {
    return this.#running + this.#suspended + this.#passed
  }

  suspended(): number {
    return this.#state === 'suspended' ? this.#suspended + this.#passed : this.#suspended
  }

  /** The wall clock of the machine, in milliseconds since 1970, with skew and steps. No safety rule uses it. */
  wall(): number {
    return this.#wallAhead + this.now()
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size
  }

  /** Whether it is neither paused nor suspended. */
  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Whether its machine is suspended now. */
  get isSuspended(): boolean {
    return this.#state === 'suspended'
  }

  schedule(delay: number, task: () => void): () => void {
    if (delay === Number.POSITIVE_INFINITY) return () => {}
    // A delay that is not a number is 1 ms, as in Node.
    const wait = Number.isNaN(Number(delay)) ? 1 : Math.max(delay, 0)
    const timer: Timer = { due: this.#monotonic() + wait, task, cancel: () => {} }
    this.#timers.add(timer)
    this.#arm(timer, wait)
    return () => {
      timer.cancel()
      this.#timers.delete(timer)
    }
  }

  /** Lets `duration` milliseconds of true time pass, for all clocks that share it, running each timer at its instant. */
  async advance(duration: number): Promise<void> {
    await this.time.advance(duration)
  }

  /** Lets all promise reactions run, and timers that are due now; no time passes. */
  async settle(): Promise<void> {
    await this.advance(0)
  }

  /** Blocks the event loop: time passes at once, and no timer of any clock of this time runs until it is advanced. */
  block(duration: number): void {
    this.time.skip(duration)
  }

  /** Suspends the machine: time passes at once, and its own timers run later by the duration. */
  suspend(duration: number): void {
    this.#settleAxes()
    this.time.skip(duration)
    this.#since = this.time.now
    this.#suspended += duration * this.#rate
  }

  /**
   * Nothing of this machine runs until {@link VirtualClock.resume}, while time passes for other machines. `stopped`: its
   * clocks continue. `suspended`: its timers and its monotonic clock stop.
   */
  pause(how: 'stopped' | 'suspended' = 'stopped'): void {
    this.#settleAxes()
    this.#state = how
  }

  /** Continues: runs the tasks that were due during the pause, in order. */
  resume(): void {
    this.#settleAxes()
    this.#state = 'running'
    for (const task of this.#late.splice(0)) this.time.schedule(0, task)
  }

  /** Runs a task that comes from outside, such as a message: now, or when the machine runs again. */
  receive(task: () => void): void {
    if (this.#state === 'running') task()
    else this.#late.push(() => this.receive(task))
  }

  /** A step of the wall clock, in milliseconds; nothing else moves. */
  stepWall(by: number): void {
    this.#wallAhead += by
  }

  /** Removes all timers and delayed tasks: the processes have died. */
  clear(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.#late.length = 0
  }

  /** The machine's clocks as an operating system reports them, for `createSystemClock`. */
  get readings(): ClockReadings {
    return {
      monotonic: () => this.#monotonic(),
      wall: () => this.wall(),
      boot: () => Math.floor(this.now() / BOOT_STEP) * BOOT_STEP,
      schedule: (delay, task) => this.schedule(delay, task),
      isVirtual: true,
    }
  }

  get #passed(): number {
    return (this.time.now - this.#since) * this.#rate
  }

  #monotonic(): number {
    return this.#state === 'suspended' ? this.#running : this.#running + this.#passed
  }

  #settleAxes(): void {
    const running = this.#monotonic()
    this.#suspended = this.suspended()
    this.#running = running
    this.#since = this.time.now
  }

  #arm(timer: Timer, delay: number): void {
    timer.cancel = this.time.schedule(delay / this.#rate, () => this.#onDue(timer))
  }

  #onDue(timer: Timer): void {
    if (!this.#timers.has(timer)) return
    if (this.#state !== 'running') {
      this.#late.push(() => this.#onDue(timer))
      return
    }
    const left = timer.due - this.#monotonic()
    if (left > ROUNDING) {
      // The machine was suspended in between.
      this.#arm(timer, left)
      return
    }
    if (left > 0) {
      this.#settleAxes()
      this.#running = timer.due
    }
    this.#timers.delete(timer)
    timer.task()
  }
}
