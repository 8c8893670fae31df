import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWithEdits, type Edit } from '@leasehold/testing/bundle-with-edits'
import { freePort } from '@leasehold/testing/free-port'
import { TcpProxy } from '@leasehold/testkit'
import type { ServerKind } from '../access.js'
import { type Server, startServer } from '../servers.js'
import { OPENING_BALANCE } from './account.js'
import { Ledger } from './ledger.js'
import type { Counts, Order, Report, TellerTask, Totals } from './teller.js'

const [entry, sources] = ['teller.ts', '../../../packages/sharding/src/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string]

export interface BankOptions {
  /** How many accounts there are; 100,000 unless given. */
  readonly accounts?: number
  /** How many processes; 6 unless given. */
  readonly processes?: number
  /** How many transfers each process has in progress; 20 unless given. */
  readonly lanes?: number
  /** For how long, in seconds. */
  readonly seconds: number
  /** Deliberate bugs in the sources of the sharding, to see that a run notices them. */
  readonly edits?: readonly Edit[]
}

const SHARDS = 48

/** How long an order may take, in milliseconds: an audit asks all accounts. */
const LONGEST_ORDER = 300_000

/** How long the processes may take to share the shards, in milliseconds: on a busy machine, leases are lost without a fault. */
const LONGEST_SHARING = 180_000

type Done = Extract<Report, { readonly type: 'done' }>

/** A process of the bank, and the proxies through which it reaches the server and is reached. */
export class Member {
  readonly #task: TellerTask
  readonly #program: string
  readonly #ledger: Ledger
  /** Between the process and the server. */
  readonly toServer: TcpProxy
  /** Between the other processes and this one. */
  readonly fromPeers: TcpProxy
  #child: ChildProcess | undefined
  /** Of the runs before. */
  readonly #before: Counts[] = []

  constructor(task: TellerTask, parts: { program: string; ledger: Ledger; toServer: TcpProxy; fromPeers: TcpProxy }) {
    this.#task = task
    this.#program = parts.program
    this.#ledger = parts.ledger
    this.toServer = parts.toServer
    this.fromPeers = parts.fromPeers
  }

  get owner(): string {
    return this.#task.owner
  }

  async start(): Promise<void> {
    const child = fork(this.#program, [JSON.stringify(this.#task)], { execArgv: [] })
    this.#child = child
    child.on('message', (report: Report) => {
      if (report.type === 'acknowledged') this.#ledger.add(report.changes)
    })
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${this.owner} has ended: ${signal ?? code}`)
    })
    const started = once(child, 'message', { signal: AbortSignal.timeout(30_000) })
    await Promise.race([started, ended])
    ended.catch(() => {})
  }

  begin(): void {
    this.#send({ type: 'begin' })
  }

  /** Resolves when the order is carried out. */
  async order(order: Order): Promise<Done> {
    const child = this.#child
    if (child === undefined) throw new Error(`${this.owner} does not run`)
    this.#send(order)
    return await new Promise<Done>((resolve, reject) => {
      const late = setTimeout(() => finish(new Error(`${this.owner} did not ${order.type} in time`)), LONGEST_ORDER)
      const onMessage = (report: Report): void => {
        if (report.type === 'done') finish(report)
      }
      const onExit = (code: unknown): void => finish(new Error(`${this.owner} has ended at '${order.type}': ${code}`))
      const finish = (result: Done | Error): void => {
        clearTimeout(late)
        child.off('message', onMessage).off('exit', onExit)
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
      child.on('message', onMessage).on('exit', onExit)
    })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Resolves when the process has given up its shards, and has ended. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const exited = once(child, 'exit')
    const { counts } = await this.order({ type: 'stop' })
    this.#before.push(counts)
    await exited
  }

  async counts(): Promise<readonly Counts[]> {
    const { counts } = await this.order({ type: 'pause' })
    return [...this.#before, counts]
  }

  #send(order: Order): void {
    this.#child?.send(order, () => {})
  }
}

/** Processes that transfer money between the accounts of a region. */
export class Bank {
  readonly members: readonly Member[]
  readonly #accounts: number
  readonly #ledger: Ledger
  readonly #server: Server
  readonly #proxies: readonly TcpProxy[]
  readonly #folder: string

  private constructor(
    parts: Pick<Bank, 'members'> & {
      accounts: number
      ledger: Ledger
      server: Server
      proxies: readonly TcpProxy[]
      folder: string
    },
  ) {
    this.members = parts.members
    this.#accounts = parts.accounts
    this.#ledger = parts.ledger
    this.#server = parts.server
    this.#proxies = parts.proxies
    this.#folder = parts.folder
  }

  static async open(kind: ServerKind, options: BankOptions): Promise<Bank> {
    const { accounts = 100_000, processes = 6, lanes = 20, edits = [] } = options
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-bank-'))
    const program = join(folder, 'teller.mjs')
    await bundleWithEdits({ entry, sources, edits }, program)
    const server = await startServer(kind)
    const ledger = new Ledger()
    const proxies: TcpProxy[] = []
    const members: Member[] = []
    for (let place = 0; place < processes; place += 1) {
      const port = await freePort()
      const [toServer, fromPeers] = [await TcpProxy.to(server.port), await TcpProxy.to(port)]
      proxies.push(toServer, fromPeers)
      const url = server.url.replace(`:${server.port}`, `:${toServer.port}`)
      const address = `http://127.0.0.1:${fromPeers.port}`
      const task = { kind, url, owner: `teller-${place}`, address, port, shards: SHARDS, accounts, lanes }
      members.push(new Member(task, { program, ledger, toServer, fromPeers }))
    }
    const bank = new Bank({ members, accounts, ledger, server, proxies, folder })
    try {
      await Promise.all(members.map((member) => member.start()))
      await bank.settled()
    } catch (error) {
      await bank.close()
      throw error
    }
    return bank
  }

  /** Resolves when all shards are shared among all processes. */
  async settled(): Promise<void> {
    const least = Math.floor(SHARDS / this.members.length)
    for (let waited = 0; waited < LONGEST_SHARING; waited += 200) {
      const owned = await Promise.all(
        this.members.map(async (member) => (await member.order({ type: 'owned' })).owned ?? 0),
      )
      if (owned.reduce((a, b) => a + b, 0) === SHARDS && owned.every((count) => count >= least)) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    throw new Error(`the shards are not shared within ${LONGEST_SHARING / 1_000} s`)
  }

  /** Ends the transfers, completes what is open, and looks at all accounts. */
  async audit(): Promise<{ readonly lines: readonly string[]; readonly failures: readonly string[] }> {
    const counts = (await Promise.all(this.members.map((member) => member.counts()))).flat()
    await Promise.all(this.#parts().map(([member, range]) => member.order({ type: 'complete', ...range })))
    const audits = await Promise.all(this.#parts().map(([member, range]) => member.order({ type: 'audit', ...range })))
    const totals = audits.map((audit): Totals => audit.totals ?? { balance: 0, open: 0, changes: [] })
    const outcomes: Record<string, number> = {}
    for (const one of counts) {
      for (const [name, count] of Object.entries(one.outcomes)) outcomes[name] = (outcomes[name] ?? 0) + count
    }
    const transfers = counts.reduce((sum, one) => sum + one.transfers, 0)
    const touched = totals.reduce((sum, { changes }) => sum + changes.length, 0)
    const lines = [
      `${transfers} transfers by processes that are there at the end, ${this.#ledger.size} acknowledged changes, ${touched} accounts with changes`,
      `outcomes: ${Object.entries(outcomes)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ')}`,
      `the longest wait for an answer: ${Math.round(Math.max(...counts.map(({ longest }) => longest)))} ms`,
      `the sum of all balances: ${totals.reduce((sum, { balance }) => sum + balance, 0)}`,
    ]
    return { lines, failures: this.#ledger.faultsOf(totals, this.#accounts * OPENING_BALANCE) }
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()))
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    await this.#server.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The accounts that each process looks at. */
  #parts(): readonly (readonly [Member, { readonly first: number; readonly end: number }])[] {
    const { length } = this.members
    const start = (place: number): number => Math.floor((this.#accounts * place) / length)
    return this.members.map((member, place) => [member, { first: start(place), end: start(place + 1) }])
  }
}
