import { systemClock } from '@leasehold/core'
import { BOOT_STEP, createTimeMemory, Deferred, SharedTime } from '@leasehold/core/internal'
import { createDeadlineMemory, type Deadline, Deadlines } from './deadlines.js'
import { type WatchedMemory, watchDeadlines } from './watch-deadlines.js'

/** The longest sleep of the thread, because a sleep does not count a suspend. Milliseconds. */
const LONGEST_SLEEP = 50

/** How often to look whether any grant needs the thread; it ends where none does. Milliseconds. */
const IDLE_TIME = 10_000

/** Its heap stays far below this; the rest of what a thread costs is Node itself. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 }

/** Keeps the deadlines of the grants of one thread. */
export interface DeadlineKeeper {
  /** The deadlines, made when they are first needed. */
  readonly deadlines: Deadlines
  /** Starts the watchdog; `undefined` if it runs. Rejects if it cannot be started. */
  start(): Promise<void> | undefined
  /** `onEnded`: the watchdog has ended by itself, and the deadline counts no more. Throws if it cannot be started. */
  add(onEnded: () => void): Deadline
}

/** The thread that ends the process when a deadline has passed. */
class WatchdogThread {
  readonly #stop = new SharedArrayBuffer(4)
  readonly #started = new Deferred<void>()
  #isRunning = false

  constructor(
    deadlines: Deadlines,
    lastWords: SharedArrayBuffer | undefined,
    onEnded: (thread: WatchdogThread) => void,
  ) {
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const memory: WatchedMemory = {
      stop: this.#stop,
      deadlines: deadlines.memory,
      bootOffset: deadlines.time.bootOffset,
      bootStep: BOOT_STEP * 1e6,
      longestSleep: LONGEST_SLEEP,
    }
    const worker = new Worker(PROGRAM, {
      eval: true,
      name: 'leasehold watchdog',
      workerData: { ...memory, lastWords },
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
    })
  }

  /** Settles when it runs, or has failed; `undefined` once it runs. */
  get starting(): Promise<void> | undefined {
    return this.#isRunning ? undefined : this.#started.promise
  }

  stop(): void {
    const stop = new Int32Array(this.#stop)
    Atomics.store(stop, 0, 1)
    Atomics.notify(stop, 0)
  }
}

/** A thread that ends the process when a deadline has passed. It runs while it is needed. */
export class Watchdog implements DeadlineKeeper {
  /** The last words of the first recorder: set before the thread starts. */
  lastWords: SharedArrayBuffer | undefined
  #deadlines: Deadlines | undefined
  #thread: WatchdogThread | undefined
  readonly #watchers = new Set<{ readonly onEnded: () => void }>()
  #isLooking = false

  start(): Promise<void> | undefined {
    try {
      return this.#run().starting
    } catch (error) {
      return Promise.reject(error)
    }
  }

  add(onEnded: () => void): Deadline {
    this.#run()
    const watcher = { onEnded }
    this.#watchers.add(watcher)
    return this.deadlines.add(() => void this.#watchers.delete(watcher))
  }

  /** Opened when the watchdog is first needed. */
  get deadlines(): Deadlines {
    this.#deadlines ??= new Deadlines(createDeadlineMemory(), new SharedTime(createTimeMemory(), 'writer'))
    return this.#deadlines
  }

  #run(): WatchdogThread {
    this.#thread ??= new WatchdogThread(this.deadlines, this.lastWords, (ended) => {
      if (this.#thread !== ended) return
      this.#thread = undefined
      for (const { onEnded } of [...this.#watchers]) onEnded()
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
      if (this.#watchers.size > 0) {
        this.#lookLater(thread)
        return
      }
      this.#thread = undefined
      thread.stop()
    })
  }
}

/** A failure to write must not keep the process alive. */
const PROGRAM = `const { workerData } = require('node:worker_threads')
function sayLastWords() {
  const { lastWords } = workerData
  const [length, lines, turn, , stackLength, stackTurn, watched] = lastWords ? new Int32Array(lastWords, 24, 7) : [0]
  if (length === 0) return
  const [silentSince, used, lookedAt] = new Float64Array(lastWords, 0, 3)
  const [path, ...text] = Buffer.from(lastWords, 56, length).toString().split('\\n')
  const { user, system } = process.cpuUsage()
  const words = { endedAt: silentSince + Number(process.hrtime.bigint()) / 1e6 - lookedAt, silentSince, cpu: (user + system) / 1000 - used }
  try {
    if (stackLength > 0 && stackTurn === turn) Object.assign(words, { watched }, JSON.parse(Buffer.from(lastWords, 65536, stackLength)))
  } catch {}
  const all = [...text, JSON.stringify({ words }), JSON.stringify({ end: lines + 2 }), '']
  require('node:fs').writeFileSync(path, all.join('\\n'), { mode: 0o600 })
}
const machine = {
  hrtime: process.hrtime.bigint,
  uptime: require('node:os').uptime,
  kill: (signal) => {
    try {
      sayLastWords()
    } catch {}
    process.kill(process.pid, signal)
  },
}
;(${watchDeadlines})(workerData, machine)`
