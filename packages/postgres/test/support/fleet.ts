import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'

/** The task of one process. */
export interface Contest {
  /** Where it connects on this machine. */
  readonly port: number
  readonly owner: string
  /** It contends for each of them, again and again. */
  readonly names: readonly string[]
  readonly times: {
    readonly heartbeatTimeout: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
  /** For how long it holds before it releases, in milliseconds. */
  readonly work: number
  /** Of its pool, at most. */
  readonly connections: number
  readonly options?: PostgresLeaseStoreOptions
}

/** A time in which one process held a lease, on the clock of the machine, in milliseconds. */
export interface Holding {
  readonly name: string
  readonly owner: string
  readonly token: bigint
  readonly from: number
  /** The last instant at which it is known that it still held. */
  readonly to: number
}

/** Processes that contend for leases and report every time in which they held one. */
export class Fleet {
  readonly #program: string
  readonly #children = new Map<string, ChildProcess>()
  readonly #holdings = new Map<string, Holding>()

  private constructor(program: string) {
    this.#program = program
  }

  /** Bundles the program of the processes into a folder, so that each starts fast. */
  static async create(folder: string): Promise<Fleet> {
    const program = join(folder, 'contender.mjs')
    const entry = fileURLToPath(new URL('./contender.ts', import.meta.url))
    await bundleWithEdits({ entry, sources: '', edits: [] }, program)
    return new Fleet(program)
  }

  /** The earliest first. */
  get holdings(): readonly Holding[] {
    return [...this.#holdings.values()].sort((a, b) => a.from - b.from)
  }

  get owners(): readonly string[] {
    return [...this.#children.keys()]
  }

  /** Resolves when the process contends. */
  async start(contest: Contest): Promise<void> {
    const child = spawn(process.execPath, [this.#program, JSON.stringify(contest)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#children.set(contest.owner, child)
    const lines = createInterface({ input: child.stdout })
    await once(lines, 'line')
    lines.on('line', (line) => this.#note(line))
  }

  freeze(owner: string): void {
    this.#children.get(owner)?.kill('SIGSTOP')
  }

  thaw(owner: string): void {
    this.#children.get(owner)?.kill('SIGCONT')
  }

  /** Ends a process with SIGKILL; resolves when it has exited and all its reports have arrived. */
  async kill(owner: string): Promise<void> {
    const child = this.#children.get(owner)
    if (child === undefined) return
    this.#children.delete(owner)
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }

  async stop(): Promise<void> {
    await Promise.all(this.owners.map((owner) => this.kill(owner)))
    rmSync(this.#program, { force: true })
  }

  #note(line: string): void {
    const holding = JSON.parse(line) as Omit<Holding, 'token'> & { readonly token: string }
    this.#holdings.set(`${holding.owner} ${holding.name} ${holding.token}`, {
      ...holding,
      token: BigInt(holding.token),
    })
  }
}

/** Sentences about holders that held a name at the same time, and about tokens that did not grow: there must be none. */
export function violations(holdings: readonly Holding[]): string[] {
  const found: string[] = []
  const last = new Map<string, Holding>()
  for (const next of [...holdings].sort((a, b) => a.from - b.from)) {
    const before = last.get(next.name)
    if (before !== undefined && before.to > next.from) {
      found.push(`${before.owner} and ${next.owner} both held ${next.name} for ${before.to - next.from} ms`)
    }
    if (before !== undefined && before.token >= next.token) {
      found.push(`${next.owner} got ${next.token} for ${next.name} after ${before.token} of ${before.owner}`)
    }
    if (before === undefined || next.to > before.to) last.set(next.name, next)
  }
  return found
}
