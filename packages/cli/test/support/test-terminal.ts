import { PassThrough, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { type Clock, systemClock } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { onTestFinished } from 'vitest'
import { leasehold } from '../../src/leasehold.js'
import type { Terminal } from '../../src/terminal.js'

export interface TestTerminalOptions {
  /** Whether the streams are a terminal. */
  readonly isTTY?: boolean
  /** The text that the user types. */
  readonly typed?: string
  readonly env?: Terminal['env']
  readonly clock?: Clock
}

export interface EndedCommand {
  readonly code: number
  /** Without colours. */
  readonly output: string
  readonly raw: string
  readonly errors: string
}

export interface StartedCommand {
  /** The lines of the output so far. */
  readonly lines: () => readonly string[]
  readonly errors: () => string
  readonly ended: Promise<EndedCommand>
}

/** The surroundings of commands in this process, with a folder of leases of their own. */
export class TestTerminal {
  readonly folder = temporaryFolder()
  readonly #options: TestTerminalOptions

  constructor(options: TestTerminalOptions = {}) {
    this.#options = options
  }

  /** Runs a command line to its end. */
  run(line: string | readonly string[], given: TestTerminalOptions = {}): Promise<EndedCommand> {
    return this.start(line, given).ended
  }

  /** Starts a command line; words are separated by spaces, or given one by one. */
  start(line: string | readonly string[], given: TestTerminalOptions = {}): StartedCommand {
    const { isTTY = false, typed = '', env = {}, clock = systemClock } = { ...this.#options, ...given }
    const input = new PassThrough()
    input.end(typed)
    const [output, errors] = [new CollectedText(), new CollectedText()]
    const args = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line
    const ended = leasehold(args, {
      input: Object.assign(input, { isTTY }),
      output: Object.assign(output, { isTTY }),
      errors: Object.assign(errors, { isTTY }),
      env: { XDG_STATE_HOME: this.folder, ...env },
      clock,
    })
    return {
      errors: () => errors.text,
      lines: () => output.text.split('\n').slice(0, -1),
      ended: ended.then((code) => ({
        code,
        raw: output.text,
        output: stripVTControlCharacters(output.text),
        errors: errors.text,
      })),
    }
  }

  /** The store that commands use without options, opened once more. */
  open(): LocalLeaseStore {
    const store = new LocalLeaseStore({ folder: `${this.folder}/leasehold/leases` })
    onTestFinished(() => store.close())
    return store
  }
}

class CollectedText extends Writable {
  text = ''

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    this.text += String(chunk)
    done()
  }
}
