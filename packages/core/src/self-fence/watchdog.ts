import { Deferred } from '../deferred.js'
import { BOOT_STEP, bootOffset, monotonicNanoseconds, systemClock } from '../system-clock.js'
import { type WatchedMemory, watchDeadlines } from './watch-deadlines.js'

/** The thread looks at least so often, because its sleep does not count a suspend. Milliseconds. */
const LONGEST_SLEEP = 50

/** How often to look whether any grant needs the thread; it ends where none does. Milliseconds. */
const IDLE_TIME = 10_000

/** Two words of 64 bits. */
const BYTES = 16
const FIRST_PLACES = 64
const MOST_PLACES = 1_048_576

const NEVER = 0n

/** Its heap stays far below this; the rest of what a thread costs is Node itself. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 }

/** The deadline of one grant. */
export interface Deadline {
  /** When to ask the process to end, and when to kill it, on the system clock. `Infinity` for never. */
  set(askAt: number, killAt: number): void
  /** The grant needs no deadline any more. */
  clear(): void
}

/** The thread that ends the process when a deadline has passed, and the memory that it shares with the leases. */
class WatchdogThread {
  readonly #stop = new SharedArrayBuffer(4)
  readonly #memory = new SharedArrayBuffer(FIRST_PLACES * BYTES, { maxByteLength: MOST_PLACES * BYTES })
  readonly #deadlines = new BigInt64Array(this.#memory)
  readonly #free: number[] = []
  /** For each deadline, the function that reports the end of the thread. */
  readonly #armed = new Map<number, () => void>()
  readonly #suspended: number
  readonly #started = new Deferred<void>()
  #isRunning = false
  #places = 0

  constructor(onEnded: (thread: WatchdogThread) => void) {
    systemClock.now()
    this.#suspended = suspendedTime()
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const memory: WatchedMemory = {
      stop: this.#stop,
      deadlines: this.#memory,
      bootOffset: bootOffset(),
      bootStep: BOOT_STEP * 1e6,
      longestSleep: LONGEST_SLEEP,
    }
    const worker = new Worker(PROGRAM, {
      eval: true,
      name: 'leasehold watchdog',
      workerData: memory,
      // No flags and no preloaded modules of the application.
      execArgv: [],
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    })
    this.#started.promise.catch(() => {})
    worker.once('online', () => {
      // Until now it keeps the process alive, because a claim waits for it.
      worker.unref()
      this.#isRunning = true
      this.#started.resolve()
    })
    // An error is followed by the exit.
    worker.on('error', (error) => this.#started.reject(error))
    worker.once('exit', () => {
      this.#started.reject(new Error('it has ended'))
      onEnded(this)
      for (const report of [...this.#armed.values()]) report()
    })
  }

  /** Settles when it runs, or has failed; `undefined` once it runs. */
  get starting(): Promise<void> | undefined {
    return this.#isRunning ? undefined : this.#started.promise
  }

  get isIdle(): boolean {
    return this.#armed.size === 0
  }

  add(onEnded: () => void): Deadline {
    const place = this.#free.pop() ?? this.#grow()
    this.#armed.set(place, onEnded)
    return {
      set: (askAt, killAt) => {
        // Read first: a pause that follows makes the deadlines earlier, not later.
        const monotonic = Number(monotonicNanoseconds()) / 1e6
        const now = systemClock.now()
        const ahead = monotonic + suspendedTime() - this.#suspended - now
        Atomics.store(this.#deadlines, 2 * place, instant(askAt + ahead))
        Atomics.store(this.#deadlines, 2 * place + 1, instant(killAt + ahead))
      },
      clear: () => {
        if (!this.#armed.delete(place)) return
        Atomics.store(this.#deadlines, 2 * place, NEVER)
        Atomics.store(this.#deadlines, 2 * place + 1, NEVER)
        this.#free.push(place)
      },
    }
  }

  stop(): void {
    const stop = new Int32Array(this.#stop)
    Atomics.store(stop, 0, 1)
    Atomics.notify(stop, 0)
  }

  #grow(): number {
    const place = this.#places
    this.#places += 1
    const bytes = this.#memory.byteLength
    if (this.#places * BYTES > bytes) this.#memory.grow(2 * bytes)
    return place
  }
}

/** One for all leases of a thread. */
export class Watchdog {
  #thread: WatchdogThread | undefined
  #isLooking = false

  /** Starts the thread; `undefined` if it runs. Rejects if it cannot be started. */
  start(): Promise<void> | undefined {
    try {
      return this.#get().starting
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** `onEnded`: the thread has ended by itself, and the deadline counts no more. */
  add(onEnded: () => void): Deadline {
    return this.#get().add(onEnded)
  }

  #get(): WatchdogThread {
    this.#thread ??= new WatchdogThread((ended) => {
      if (this.#thread === ended) this.#thread = undefined
    })
    this.#lookLater(this.#thread)
    return this.#thread
  }

  /** Stops the thread when it has been idle; looks again later otherwise. */
  #lookLater(thread: WatchdogThread): void {
    if (this.#isLooking) return
    this.#isLooking = true
    systemClock.schedule(IDLE_TIME, () => {
      this.#isLooking = false
      if (this.#thread !== thread) return
      if (!thread.isIdle) {
        this.#lookLater(thread)
        return
      }
      thread.stop()
      this.#thread = undefined
    })
  }
}

/** As of the last look at the system clock. */
function suspendedTime(): number {
  return systemClock.suspended?.() ?? 0
}

/** In nanoseconds; 0 where the time never comes. */
function instant(at: number): bigint {
  return at === Number.POSITIVE_INFINITY ? NEVER : BigInt(Math.floor(at * 1e6))
}

const PROGRAM = `const machine = {
  hrtime: process.hrtime.bigint,
  uptime: require('node:os').uptime,
  kill: (signal) => process.kill(process.pid, signal),
}
;(${watchDeadlines})(require('node:worker_threads').workerData, machine)`
