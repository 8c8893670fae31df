import { sleep } from './machine-clock.js'
import type { WatchedCommand } from './watchdog-message.js'
import { endWatchdog, startWatchdog, type WatchdogProcess } from './watchdog-process.js'

/** The pause before another watchdog is started in the place of one that has ended, in milliseconds. */
const PAUSE = 50

/** The watchdog, as `leasehold` sees it. A watchdog that ends by itself, or is killed, is replaced by another one. */
export class WatchdogLink {
  #child: WatchdogProcess
  /** Another watchdog gets it again. `undefined` while there is no command. */
  #command: WatchedCommand | undefined
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
  async arm(command: WatchedCommand): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#onAnswer = resolve
    })
    this.#tell(command)
    await answered
  }

  /** The watchdog gets to know what has changed since the command was armed. */
  update(changed: Partial<Omit<WatchedCommand, 'mark'>>): void {
    if (this.#command !== undefined) this.#tell({ ...this.#command, ...changed })
  }

  /** Nothing of the command is alive. */
  disarm(): void {
    this.#tell(undefined)
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
    if (this.#command !== undefined) this.#tell(this.#command)
  }

  #tell(command: WatchedCommand | undefined): void {
    this.#command = command
    if (!this.#isClosed) this.#child.stdin.write(`${JSON.stringify(command ?? null)}\n`)
  }
}
