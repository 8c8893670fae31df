import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleWithEdits } from './bundle-with-edits.js'

/** The task of one process, as its program reads it from its first argument, in JSON. */
export interface FleetTask {
  readonly owner: string
}

/** A time in which one process held a lease, on the clock of the machine, in milliseconds. */
export interface Holding {
  readonly name: string
  readonly owner: string
  /** `undefined` where the lock has none. */
  readonly token: bigint | undefined
  readonly from: number
  /** The last instant at which it is known that it still held. */
  readonly to: number
}

/** Processes that contend for leases and report every time in which they held one, as a line of JSON. */
export class Fleet<T extends FleetTask> {
  readonly #program: string
  readonly #children = new Map<string, ChildProcess>()
  readonly #holdings = new Map<string, Holding>()
  /** Sentences of the processes about what must not happen. */
  readonly faults: string[] = []

  private constructor(program: string) {
    this.#program = program
  }

  /** Bundles the program of the processes into a folder, so that each starts fast. */
  static async create<T extends FleetTask>(folder: string, entry: string): Promise<Fleet<T>> {
    const program = join(folder, basename(entry).replace(/\.ts$/, '.mjs'))
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

  /** Resolves when the process contends. Rejects if it ends before. */
  async start(task: T): Promise<void> {
    const child = spawn(process.execPath, [this.#program, JSON.stringify(task)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#children.set(task.owner, child)
    const lines = createInterface({ input: child.stdout })
    const ended = once(child, 'close').then(() => {
      throw new Error(`${task.owner} has ended before it contended`)
    })
    await Promise.race([once(lines, 'line'), ended])
    ended.catch(() => {})
    lines.on('line', (line) => this.#note(line))
  }

  freeze(owner: string): void {
    this.#children.get(owner)?.kill('SIGSTOP')
  }

  thaw(owner: string): void {
    this.#children.get(owner)?.kill('SIGCONT')
  }

  /** Ends a process with SIGKILL, or a gentler signal; resolves when it has exited and all its reports have arrived. */
  async kill(owner: string, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#children.get(owner)
    if (child === undefined) return
    this.#children.delete(owner)
    // One that has ended by itself reports nothing more.
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }

  async stop(): Promise<void> {
    await Promise.all(this.owners.map((owner) => this.kill(owner)))
    rmSync(this.#program, { force: true })
  }

  #note(line: string): void {
    const said = JSON.parse(line) as Omit<Holding, 'token'> & { readonly token?: string; readonly fault?: string }
    if (said.fault !== undefined) {
      this.faults.push(said.fault)
      return
    }
    const { token, ...holding } = said
    const noted = { ...holding, token: token === undefined ? undefined : BigInt(token) }
    this.#holdings.set(`${noted.owner} ${noted.name} ${token ?? noted.from}`, noted)
  }
}

/** Sentences about holders that held a name at the same time, and about tokens that did not grow: there must be none. */
export function violations(holdings: readonly Holding[]): string[] {
  const found: string[] = []
  const last = new Map<string, Holding>()
  const tokens = new Map<string, { readonly owner: string; readonly token: bigint }>()
  for (const next of [...holdings].sort((a, b) => a.from - b.from)) {
    const { name, owner, token } = next
    const before = last.get(name)
    if (before !== undefined && before.to > next.from) {
      found.push(`${before.owner} and ${owner} both held ${name} for ${before.to - next.from} ms`)
    }
    const latest = tokens.get(name)
    if (latest !== undefined && token !== undefined && latest.token >= token) {
      found.push(`${owner} got ${token} for ${name} after ${latest.token} of ${latest.owner}`)
    }
    if (token !== undefined) tokens.set(name, { owner, token })
    if (before === undefined || next.to > before.to) last.set(name, next)
  }
  return found
}
