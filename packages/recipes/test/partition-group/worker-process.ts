import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Finishing } from '@leasehold/testing'

const program = fileURLToPath(new URL('programs/worker.ts', import.meta.url))
const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']

/** An event of a worker. */
export interface Line {
  readonly event: 'assigned' | 'worked' | 'saved' | 'ended' | 'stopped'
  readonly partition: number
  readonly token: string
  readonly position?: string | number
  readonly at: number
  readonly isSaved?: boolean
}

/** A worker of a group in a process of its own; ended with the test. */
export class WorkerProcess {
  readonly lines: Line[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<number | null>
  #onLine = (): void => {}

  constructor(test: Finishing, folder: string, owner: string) {
    this.#process = spawn(process.execPath, [...OPTIONS, program, folder, owner])
    this.#exited = new Promise((resolve) => this.#process.once('close', resolve))
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      this.#onLine()
    })
    this.#process.stderr.on('data', (text) => process.stderr.write(text))
    test.onTestFinished(async () => {
      this.signal('SIGKILL')
      await this.#exited
    })
  }

  /** Resolves when a condition on the lines of some workers is true. */
  static async until(workers: readonly WorkerProcess[], isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        for (const worker of workers) worker.#onLine = resolve
      })
    }
  }

  /** The partitions that it works on, by its own account. */
  get owned(): ReadonlySet<number> {
    const owned = new Set<number>()
    for (const { event, partition } of this.lines) {
      if (event === 'assigned') owned.add(partition)
      else if (event === 'ended') owned.delete(partition)
    }
    return owned
  }

  of(event: Line['event'], partition?: number): readonly Line[] {
    return this.lines.filter((line) => line.event === event && (partition ?? line.partition) === line.partition)
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal)
  }

  /** The code that it exits with. */
  get exited(): Promise<number | null> {
    return this.#exited
  }
}
