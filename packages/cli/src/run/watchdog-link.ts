import type { Clock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { WatchedCommand } from './watchdog-message.js'
import { WatchdogProcess } from './watchdog-process.js'

/** The pauses before another watchdog is started in the place of one that has ended, in milliseconds: they grow. */
const SHORTEST_PAUSE = 50
const LONGEST_PAUSE = 1_000

/** After this number of watchdogs that ended one after the other without an answer, a command is given up. */
const ATTEMPTS = 5

/** How long a watchdog may take to answer: looks, and milliseconds between two. Stops of this process do not count. */
const LOOKS = 30
const LOOK_PAUSE = 1_000

/** The code of an error of the system, and how to remove its cause. */
const remedies: Readonly<Record<string, string>> = {
  EAGAIN: 'raise the limit of processes (ulimit -u, TasksMax= of systemd, the pids limit of a container)',
  EMFILE: 'raise the limit of open files (ulimit -n)',
  ENFILE: 'raise the limit of open files of the system (fs.file-max)',
  ENOMEM: 'free some memory, or raise its limit',
}

/** No watchdog watches the command, so the command was not started. The message says why, and how to correct it. */
export class WatchdogError extends Error {
  override readonly name = 'WatchdogError'

  constructor(cause: Error) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const remedy = Object.hasOwn(remedies, code) ? `: ${remedies[code]}` : ''
    super(`the watchdog of the command cannot be started (${cause.message}), so the command was not started${remedy}`, {
      cause,
    })
  }
}

/** The watchdog, as `leasehold` sees it. A watchdog that ends by itself, or is killed, is replaced by another one. */
export class WatchdogLink {
  readonly #clock: Clock
  readonly #start: () => WatchdogProcess
  #process: WatchdogProcess
  /** The command, which a new watchdog gets again. `undefined` while there is none. */
  #command: WatchedCommand | undefined
  /** How many watchdogs have ended since the last answer. */
  #failures = 0
  #onAnswer: (() => void) | undefined
  #onFailure: ((failure: Error) => void) | undefined
  #isClosed = false

  /** `started`: a watchdog that was started before. `start` starts one. */
  constructor(clock: Clock, started?: WatchdogProcess, start = (): WatchdogProcess => new WatchdogProcess()) {
    this.#clock = clock
    this.#start = start
    this.#process = this.#attend(started ?? start())
  }

  /** The number of its process. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  /**
   * Resolves when the watchdog watches: only then may the command be started. Rejects with a `WatchdogError` if none can be
   * started, or if it does not answer; and with the reason of `stop` when that is aborted.
   */
  async arm(command: WatchedCommand, stop: AbortSignal): Promise<void> {
    stop.throwIfAborted()
    const ended = new AbortController()
    const answered = new Promise<void>((resolve, reject) => {
      const fail = (failure: Error): void => reject(new WatchdogError(failure))
      this.#onAnswer = resolve
      this.#onFailure = fail
      stop.addEventListener('abort', () => reject(stop.reason), { signal: ended.signal })
      ended.signal.addEventListener(
        'abort',
        this.#afterPatience(() => fail(new Error('it does not answer'))),
      )
    })
    // The failures before this command leave one attempt: it is given up only if the next watchdog ends too.
    this.#failures = Math.min(this.#failures, ATTEMPTS - 1)
    this.#tell(command)
    try {
      await answered
    } finally {
      ended.abort()
      this.#onAnswer = undefined
      this.#onFailure = undefined
    }
  }

  /** Tells the watchdog what has changed since the command was armed. */
  update(changed: Partial<Omit<WatchedCommand, 'mark'>>): void {
    if (this.#command !== undefined) this.#tell({ ...this.#command, ...changed })
  }

  /** Tells the watchdog that nothing of the command is alive. */
  disarm(): void {
    this.#tell(undefined)
  }

  /** Ends the watchdog, also if it is stopped. It has nothing to watch any more. */
  close(): void {
    this.#isClosed = true
    this.#process.end()
  }

  /** Calls `action` once a watchdog has had the time to answer. Returns a function that cancels this. */
  #afterPatience(action: () => void): () => void {
    let looks = 0
    const look = (): void => {
      looks += 1
      if (looks > LOOKS) action()
      else cancel = this.#clock.schedule(LOOK_PAUSE, look)
    }
    let cancel = (): void => {}
    look()
    return () => cancel()
  }

  #attend(process: WatchdogProcess): WatchdogProcess {
    process.onAnswer(() => {
      this.#failures = 0
      this.#onAnswer?.()
    })
    void process.ended.then((failure) => this.#replace(process, failure))
    return process
  }

  async #replace(ended: WatchdogProcess, failure: Error): Promise<void> {
    if (this.#isClosed || this.#process !== ended) return
    this.#failures += 1
    if (this.#failures >= ATTEMPTS) this.#onFailure?.(failure)
    const duration = Math.min(SHORTEST_PAUSE * 2 ** (this.#failures - 1), LONGEST_PAUSE)
    await pause(this.#clock, duration, new AbortableCall())
    if (this.#isClosed) return
    this.#process = this.#attend(this.#start())
    if (this.#command !== undefined) this.#tell(this.#command)
  }

  #tell(command: WatchedCommand | undefined): void {
    this.#command = command
    if (!this.#isClosed) this.#process.tell(JSON.stringify(command ?? null))
  }
}
