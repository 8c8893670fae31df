import { isatty } from 'node:tty'
import { shownText } from '@leasehold/core/internal'
import { writeNow } from '../write-now.js'

const STANDARD_ERROR = 2

/**
 * Writes to standard error, which the command has too. It does not use `process.stderr`, which makes a pipe non-blocking:
 * the command would then fail to write to it.
 */
export class Notices {
  readonly isTerminal: boolean = isatty(STANDARD_ERROR)
  /** Whether progress is shown at all. */
  readonly showsProgress: boolean
  #hasProgress = false

  constructor(isQuiet: boolean) {
    this.showsProgress = !isQuiet
  }

  /** A fact that the user has to know, on a line of its own. */
  say(text: string): void {
    this.clear()
    writeNow(STANDARD_ERROR, lineOf(text))
  }

  /** Progress: replaces the last one on a terminal, and is a line of its own elsewhere. */
  progress(text: string): void {
    if (!this.showsProgress) return
    if (!this.isTerminal) {
      writeNow(STANDARD_ERROR, lineOf(text))
      return
    }
    const line = lineOf(text).slice(0, (process.stderr.columns || 80) - 1)
    writeNow(STANDARD_ERROR, `\r\u001b[K${line.trimEnd()}`)
    this.#hasProgress = true
  }

  /** Removes the progress from the terminal. */
  clear(): void {
    if (this.#hasProgress) writeNow(STANDARD_ERROR, '\r\u001b[K')
    this.#hasProgress = false
  }
}

/** Names and owners are other people's texts, and may be in any notice. */
function lineOf(text: string): string {
  return `leasehold: ${shownText(text)}\n`
}
