import { isatty } from 'node:tty'
import { writeNow } from '../write-now.js'

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
    writeNow(STANDARD_ERROR, `leasehold: ${text}\n`)
  }

  /** Progress: replaces the last one on a terminal, and is a line of its own elsewhere. */
  progress(text: string): void {
    if (this.#isQuiet) return
    if (!this.isTerminal) {
      writeNow(STANDARD_ERROR, `leasehold: ${text}\n`)
      return
    }
    writeNow(STANDARD_ERROR, `\r\u001b[K${`leasehold: ${text}`.slice(0, (process.stderr.columns || 80) - 1)}`)
    this.#hasProgress = true
  }

  /** Removes the progress from the terminal. */
  clear(): void {
    if (this.#hasProgress) writeNow(STANDARD_ERROR, '\r\u001b[K')
    this.#hasProgress = false
  }
}
