import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Finishing } from '@leasehold/testing'

/** One line of a child: an event and its details. */
export type Line = Readonly<Record<string, unknown>>

/** A program of the tests in a process of its own, which prints lines of JSON; ended with the test. */
export class Child {
  readonly lines: Line[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<void>
  #waiting: (() => void)[] = []

  constructor(test: Finishing, program: URL, args: readonly string[]) {
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', program.pathname, ...args]
    this.#process = spawn(process.execPath, options)
    this.#exited = new Promise((resolve) => this.#process.once('close', () => resolve()))
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#process.stderr.on('data', (text) => process.stderr.write(text))
    test.onTestFinished(async () => {
      await this.end('SIGKILL')
    })
  }

  /** The first line, printed or later, that has these values. */
  async waitFor(expected: Line): Promise<Line> {
    const isIt = (line: Line): boolean => Object.entries(expected).every(([key, value]) => line[key] === value)
    for (;;) {
      const found = this.lines.find(isIt)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Sends the signal, and resolves with the exit code when the process is gone: `null` if the signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal)
    await this.#exited
    return this.#process.exitCode
  }
}
