import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Finishing } from '@leasehold/testing'

const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']
const FILE = new URL('programs/candidate.ts', import.meta.url).pathname

/** One line of a candidate. */
export interface Line {
  readonly elected?: string
  readonly wrote?: string
  readonly ended?: string
  readonly lost?: string
  readonly leads?: boolean
  readonly rejected?: string
  readonly stopped?: boolean
  readonly leader?: string
  readonly term?: string
}

/** A candidate in a process of its own; killed at the end of the test. */
export class CandidateProcess {
  readonly name: string
  readonly lines: Line[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<number | null>
  #waiting: (() => void)[] = []

  constructor(test: Finishing, folder: string, name: string) {
    this.name = name
    this.#process = spawn(process.execPath, [...OPTIONS, FILE, folder, name])
    this.#exited = new Promise((resolve) => this.#process.once('close', resolve))
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#process.stderr.on('data', (text) => process.stderr.write(text))
    test.onTestFinished(async () => {
      this.signal('SIGKILL')
      await this.#exited
    })
  }

  /** The first line for which `isIt` returns true, printed already or later. */
  async waitFor(isIt: (line: Line) => boolean): Promise<Line> {
    for (let seen = 0; ; ) {
      for (; seen < this.lines.length; seen += 1) {
        const line = this.lines[seen]
        if (line !== undefined && isIt(line)) return line
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Resolves with its exit code; `null` if a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#exited
  }
}
