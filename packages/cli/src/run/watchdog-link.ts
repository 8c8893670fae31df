import type { CommandRoot } from './command-processes.js'
import type { Deadlines } from './deadlines.js'
import { sleep } from './machine-clock.js'
import type { RunMark } from './process-table.js'
import type { WatchdogOrder } from './watchdog-message.js'
import { endWatchdog, startWatchdog, type WatchdogProcess } from './watchdog-process.js'

/** The pause before another watchdog is started in the place of one that has ended, in milliseconds. */
const PAUSE = 50

/** The watchdog, as `leasehold` sees it. A watchdog that ends by itself, or is killed, is replaced by another one. */
export class WatchdogLink {
  #child: WatchdogProcess
  /** The orders for the command, by type: another watchdog gets them again. Empty while there is no command. */
  readonly #orders = new Map<WatchdogOrder['type'], WatchdogOrder>()
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
    const answered = new Promise<void>((resolve) => {
      this.#onAnswer = resolve
    })
    this.#order({ type: 'arm', mark, killAfter, deadlines })
    await answered
  }

  started(root: CommandRoot): void {
    this.#order({ type: 'started', root })
  }

  extend(deadlines: Deadlines): void {
    const armed = this.#orders.get('arm')
    // Another watchdog must not look at the deadlines of before.
    if (armed?.type === 'arm') this.#orders.set('arm', { ...armed, deadlines })
    this.#tell({ type: 'extend', deadlines })
  }

  ending(): void {
    this.#order({ type: 'ending' })
  }

  reaped(): void {
    this.#order({ type: 'reaped' })
  }

  disarm(): void {
    this.#orders.clear()
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
    for (const order of this.#orders.values()) this.#tell(order)
  }

  #order(order: WatchdogOrder): void {
    if (order.type === 'arm' || this.#orders.size > 0) this.#orders.set(order.type, order)
    this.#tell(order)
  }

  #tell(order: WatchdogOrder): void {
    if (!this.#isClosed) this.#child.stdin.write(`${JSON.stringify(order)}\n`)
  }
}
