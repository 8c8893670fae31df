import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Finishing } from '@leasehold/testing'
import { bundle } from './bundle.js'

/** One line of a child: an event, and its time on the monotonic clock of the machine, in milliseconds. */
export interface Line {
  readonly at: number
  readonly granted?: boolean
  readonly waiting?: boolean
  readonly renewed?: boolean
  readonly releasing?: boolean
  readonly released?: boolean
  readonly token?: string
  readonly opened?: number
  readonly name?: string
  readonly grantId?: string
  readonly terminated?: number
  readonly counted?: number
  readonly longest?: number
  readonly remaining?: number
  readonly valid?: boolean
  readonly lost?: boolean
  readonly asked?: boolean
  readonly alive?: boolean
  readonly error?: string
  readonly message?: string
}

// Bundled once for all test files of a process: to start the sources takes a child seconds on a busy machine.
const programs = mkdtempSync(join(tmpdir(), 'leasehold-local-programs-'))
chmodSync(programs, 0o755)
process.once('exit', () => rmSync(programs, { recursive: true, force: true }))
const FILE = await bundle(programs, 'child')

/** The Unix user `nobody`. */
export const NOBODY = 65_534

/** Whether a child can run as `NOBODY`: only root can start it, and it may not be able to read Node and these files. */
export function canRunAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false
  const script = `require('node:fs').accessSync(${JSON.stringify(FILE)})`
  return spawnSync(process.execPath, ['-e', script], { uid: NOBODY, gid: NOBODY }).status === 0
}

/** A process of its own that uses a folder; ended with the test. */
export class Child {
  readonly lines: Line[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<void>
  #waiting: (() => void)[] = []

  /** Runs `child.ts`, or the `program` that {@link bundle} has made. */
  constructor(
    test: Finishing,
    folder: string,
    mode: string,
    options: { name?: string; uid?: number; program?: string; args?: readonly string[] } = {},
  ) {
    const { name = 'job', uid, program = FILE, args = [] } = options
    this.#process = spawn(
      process.execPath,
      [program, folder, mode, name, ...args],
      uid === undefined ? {} : { uid, gid: uid, env: { ...process.env, HOME: '/tmp', TMPDIR: '/tmp' } },
    )
    this.#exited = new Promise((resolve) => this.#process.once('close', () => resolve()))
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#process.stderr.on('data', (text) => process.stderr.write(text))
    test.onTestFinished(() => this.kill('SIGKILL'))
  }

  /** The first line, printed or later, for which `isIt` returns true. */
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

  /** The code that it exits with by itself. */
  async exitCode(): Promise<number | null> {
    await this.#exited
    return this.#process.exitCode
  }

  /** The signal that ends it. */
  async exitSignal(): Promise<NodeJS.Signals | null> {
    await this.#exited
    return this.#process.signalCode
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal)
    await this.#exited
  }
}
