import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'

const STANDARD_ERROR = 2

/**
 * Writes to standard error beside the command, which has the same one. Not through `process.stderr`: that makes a pipe
 * non-blocking for the command too, which then fails to write to it.
 */
export class Notices {
  readonly isTerminal: boolean = isatty(STANDARD_ERROR)
  readonly #isQuiet: boolean
  #hasProgress = false

  constructor(isQuiet: boolean) {
    this.#isQuiet = isQuiet
  }

  /** A fact that the user has to know, on a line of its own. */
  say(text: string): void {
    this.clear()
    write(`leasehold: ${text}\n`)
  }

  /** Progress: replaces the last one on a terminal, and is a line of its own elsewhere. */
  progress(text: string): void {
    if (this.#isQuiet) return
    if (!this.isTerminal) {
      write(`leasehold: ${text}\n`)
      return
    }
    write(`\r\u001b[K${`leasehold: ${text}`.slice(0, (process.stderr.columns || 80) - 1)}`)
    this.#hasProgress = true
  }

  /** Removes the progress from the terminal. */
  clear(): void {
    if (this.#hasProgress) write('\r\u001b[K')
    this.#hasProgress = false
  }
}

/** The reader may have ended, and a pipe may be full. */
function write(text: string): void {
  try {
    writeSync(STANDARD_ERROR, text)
  } catch {
    // There is no other place to report to.
  }
}
