import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { watchdogWord } from './watchdog-message.js'

/**
 * The process of a watchdog. It reads what there is to watch, and answers. It watches nothing before it gets a command. A
 * watchdog that cannot be started counts as one that has ended.
 */
export class WatchdogProcess {
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<Error>
  readonly #child: ChildProcessByStdio<Writable, Readable, null> | undefined

  /** Starts it. */
  constructor() {
    try {
      const child = startProcess()
      this.#child = child
      this.ended = new Promise((resolve) => {
        child.on('error', resolve)
        child.once('exit', (code, signal) => resolve(new Error(`it ended with ${signal ?? `exit code ${code}`}`)))
      })
      // There is no pipe if the system had no descriptor left for it.
      child.stdin?.on('error', () => {})
    } catch (error) {
      this.ended = Promise.resolve(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** `undefined` if it could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** `listener` is called for each answer. */
  onAnswer(listener: () => void): void {
    this.#child?.stdout?.on('data', listener)
  }

  /** Writes a line to it. */
  tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`)
  }

  /** Ends it, also if it is stopped. After that, it does not keep this process alive. */
  end(): void {
    this.#child?.kill('SIGKILL')
    this.#child?.stdin?.destroy()
    this.#child?.stdout?.destroy()
    this.#child?.unref()
  }
}

function startProcess(): ChildProcessByStdio<Writable, Readable, null> {
  const [, program = ''] = process.argv
  // Two debuggers cannot share a port.
  const options = process.execArgv.filter((option) => !option.startsWith('--inspect'))
  // The watchdog uses no network. Reading these certificates takes Node longer than all else before the first line runs.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  return spawn(process.execPath, [...options, program, watchdogWord], {
    // A session of its own: signals of the terminal do not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  })
}
