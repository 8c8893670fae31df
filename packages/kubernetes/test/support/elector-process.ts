import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { machineTime } from '@leasehold/core/store-kit'

/** A line of an elector. */
export interface Told {
  /** `waiting`: it contends; `started`: it leads; `stopped`: it leads no more, and has not released the lease yet. */
  readonly event: 'waiting' | 'started' | 'stopped'
  /** The monotonic clock of the machine, in milliseconds. */
  readonly at: number
  /** The fencing token, where it has one. */
  readonly token?: string
}

/** An elector in a process of its own, which contends for a lease until it is ended, and prints what happens. */
export class ElectorProcess {
  readonly told: Told[] = []
  /** The instant at which it was seen to be gone; `undefined` while it runs. */
  endedAt: number | undefined
  readonly #process: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #listeners = new Set<() => void>()

  /** `environment`: its variables, besides those of this process. */
  constructor(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    // It ends when its input does, so that it does not outlive this process.
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...environment } })
    this.#process = child
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.told.push(JSON.parse(line))
      this.#wake()
    })
    this.#closed = once(child, 'close').then(() => {
      this.endedAt = machineTime()
      this.#wake()
    })
  }

  /** By what it has said last. */
  get leads(): boolean {
    return this.endedAt === undefined && this.told.at(-1)?.event === 'started'
  }

  /** Calls the listener after each change; returns what removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Its first line of this kind. Rejects if it ends without one. */
  async tells(event: Told['event']): Promise<Told> {
    for (;;) {
      const told = this.told.find((line) => line.event === event)
      if (told !== undefined) return told
      if (this.endedAt !== undefined) throw new Error(`an elector has ended before it was ${event}`)
      await new Promise<void>((resolve) => {
        const remove = this.onChange(() => {
          remove()
          resolve()
        })
      })
    }
  }

  /** Resolves, when the process is gone and all that it said has arrived, with the instant at which the signal was sent. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    const at = machineTime()
    this.#process.kill(signal)
    await this.#closed
    return at
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
