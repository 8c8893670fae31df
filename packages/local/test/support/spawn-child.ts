import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll } from 'vitest'
import { bundle } from './bundle.js'
import type { Finishing } from './temporary-folder.js'

/** One line of a child: what happened, and when on the monotonic clock of the machine, in milliseconds. */
export interface Told {
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
  readonly error?: string
  readonly message?: string
}

// Once for each file of tests: starting the sources themselves takes each child seconds on a busy machine.
const programs = mkdtempSync(join(tmpdir(), 'leasehold-local-programs-'))
chmodSync(programs, 0o755)
afterAll(() => rmSync(programs, { recursive: true }))
const FILE = await bundle(programs, 'child')

/** A user who is nobody in particular. */
export const NOBODY = 65_534

/** Whether a child can run as `NOBODY`: only root can start one, and Node and these files may be out of its reach. */
export function canRunAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false
  const script = `require('node:fs').accessSync(${JSON.stringify(FILE)})`
  return spawnSync(process.execPath, ['-e', script], { uid: NOBODY, gid: NOBODY }).status === 0
}

/** A process of its own that uses a folder; ended with the test. */
export class Child {
  readonly told: Told[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<void>
  #waiting: (() => void)[] = []

  /** Runs `child.ts`, or the `program` that {@link bundle} has made. */
  constructor(
    test: Finishing,
    folder: string,
    mode: string,
    options: { name?: string; uid?: number; program?: string } = {},
  ) {
    const { name = 'job', uid, program = FILE } = options
    this.#process = spawn(
      process.execPath,
      [program, folder, mode, name],
      uid === undefined ? {} : { uid, gid: uid, env: { ...process.env, HOME: '/tmp', TMPDIR: '/tmp' } },
    )
    this.#exited = new Promise((resolve) => this.#process.once('close', () => resolve()))
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.told.push(JSON.parse(line))
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#process.stderr.on('data', (text) => process.stderr.write(text))
    test.onTestFinished(() => this.kill('SIGKILL'))
  }

  /** The first line, told or yet to come, that is as asked for. */
  async tells(isIt: (told: Told) => boolean): Promise<Told> {
    for (let seen = 0; ; ) {
      for (; seen < this.told.length; seen += 1) {
        const told = this.told[seen]
        if (told !== undefined && isIt(told)) return told
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

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal)
    await this.#exited
  }
}
