import type { CommandRoot } from './command-processes.js'
import type { Deadlines } from './deadlines.js'
import { sleep } from './machine-clock.js'
import type { RunMark } from './process-table.js'
import type { WatchdogOrder } from './watchdog-message.js'
import { endWatchdog, startWatchdog, type WatchdogProcess } from './watchdog-process.js'

/** The pause before another watchdog is started in the place of one that has ended, in milliseconds. */
const PAUSE = 50

/** What the watchdog has to know of the command. */
interface Armed {
  readonly mark: RunMark
  readonly killAfter: number
  deadlines: Deadlines
  root: CommandRoot | undefined
  isReaped: boolean
  isEnding: boolean
}

/** The watchdog, as `leasehold` sees it. A watchdog that ends by itself, or is killed, is replaced by another one. */
export class WatchdogLink {
  #child: WatchdogProcess
  #armed: Armed | undefined
  #onAnswer: (() => void) | undefined
  #isClosed = false

  /** `started`: a watchdog that was started before. */
  constructor(started: WatchdogProcess = startWatchdog()) {
    this.#child = this.#attend(started)
  }

  /** The number of its process. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves when the watchdog watches: only then may the command be started. */
  async arm(mark: RunMark, killAfter: number, deadlines: Deadlines): Promise<void> {
    this.#armed = { mark, killAfter, deadlines, root: undefined, isReaped: false, isEnding: false }
    const answered = new Promise<void>((resolve) => {
      this.#onAnswer = resolve
    })
    this.#tellAll()
    await answered
  }

  started(root: CommandRoot): void {
    if (this.#armed !== undefined) this.#armed.root = root
    this.#tell({ type: 'started', root })
  }

  extend(deadlines: Deadlines): void {
    if (this.#armed !== undefined) this.#armed.deadlines = deadlines
    this.#tell({ type: 'extend', deadlines })
  }

  ending(): void {
    if (this.#armed !== undefined) this.#armed.isEnding = true
    this.#tell({ type: 'ending' })
  }

  reaped(): void {
    if (this.#armed !== undefined) this.#armed.isReaped = true
    this.#tell({ type: 'reaped' })
  }

  disarm(): void {
    this.#armed = undefined
    this.#tell({ type: 'disarm' })
  }

  /** Ends it. It watches nothing any more, and may be stopped. */
  close(): void {
    this.#isClosed = true
    endWatchdog(this.#child)
  }

  #attend(child: WatchdogProcess): WatchdogProcess {
    child.stdout.on('data', () => this.#onAnswer?.())
    const ended = (): void => void this.#replace(child)
    child.once('exit', ended)
    child.once('error', ended)
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) queueMicrotask(ended)
    return child
  }

  async #replace(ended: WatchdogProcess): Promise<void> {
    if (this.#isClosed || this.#child !== ended) return
    await sleep(PAUSE)
    if (this.#isClosed || this.#child !== ended) return
    this.#child = this.#attend(startWatchdog())
    this.#tellAll()
  }

  #tellAll(): void {
    if (this.#armed === undefined) return
    const { mark, killAfter, deadlines, root, isReaped, isEnding } = this.#armed
    this.#tell({ type: 'arm', mark, killAfter, deadlines })
    if (root !== undefined) this.#tell({ type: 'started', root })
    if (isReaped) this.#tell({ type: 'reaped' })
    if (isEnding) this.#tell({ type: 'ending' })
  }

  #tell(order: WatchdogOrder): void {
    if (!this.#isClosed) this.#child.stdin.write(`${JSON.stringify(order)}\n`)
  }
}
