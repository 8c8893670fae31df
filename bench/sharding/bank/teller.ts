/** One process of the bank: `teller.ts TASK`. It has a part of the accounts, and transfers money between all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { httpTransport, ShardRegion } from '@leasehold/sharding'
import { openServer, type ServerKind } from '../access.js'
import { type Audited, account, type Booked, type OpenTransfer } from './account.js'

export interface TellerTask {
  readonly kind: ServerKind
  readonly url: string
  readonly owner: string
  readonly address: string
  /** The port behind `address`. */
  readonly port: number
  readonly shards: number
  readonly accounts: number
  /** How many transfers are in progress at a time. */
  readonly lanes: number
}

/** A change that an account has acknowledged: `[account, change, key]`. */
export type Acknowledged = readonly [account: string, change: number, key: string]

export interface Counts {
  /** Transfers from begin to end. */
  transfers: number
  /** What became of the questions and events of this process. */
  readonly outcomes: Record<string, number>
  /** The longest time in which a question got an answer, with its repetitions, in milliseconds. */
  longest: number
}

export interface Totals {
  readonly balance: number
  readonly open: number
  /** The number of changes of each account. */
  readonly changes: readonly (readonly [account: string, changes: number])[]
}

/** From the parent. */
export type Order =
  | { readonly type: 'begin' }
  /** End the transfers in progress. */
  | { readonly type: 'pause' }
  /** Complete what is open on these accounts. */
  | { readonly type: 'complete'; readonly first: number; readonly end: number }
  | { readonly type: 'audit'; readonly first: number; readonly end: number }
  | { readonly type: 'owned' }
  | { readonly type: 'stop' }

/** To the parent. */
export type Report =
  | { readonly type: 'started' }
  | { readonly type: 'acknowledged'; readonly changes: readonly Acknowledged[] }
  | { readonly type: 'done'; readonly counts: Counts; readonly totals?: Totals; readonly owned?: number }

/** How long a question may take, and the pause before it is repeated, in milliseconds. */
const ASK_TIMEOUT = 3_000
const PAUSE = 100

/** How many accounts are asked at a time. */
const AUDIT_WINDOW = 100

export const nameOf = (place: number): string => `account-${place}`

class Teller {
  readonly #task: TellerTask
  readonly #region: ShardRegion
  readonly #counts: Counts = { transfers: 0, outcomes: {}, longest: 0 }
  #acknowledged: Acknowledged[] = []
  #isOpen = false
  #lanes: Promise<unknown> = Promise.resolve()
  #lastKey = 0

  constructor(task: TellerTask) {
    const { store, state } = openServer(task.kind, task.url)
    this.#task = task
    this.#region = new ShardRegion(store, {
      name: 'bank',
      owner: task.owner,
      shards: task.shards,
      entity: account,
      transport: httpTransport({
        address: task.address,
        listen: { host: '127.0.0.1', port: task.port },
        secret: 'bank',
        requestTimeout: 2_000,
      }),
      state,
      passivateAfter: 5_000,
      heartbeatTimeout: 6_000,
      heartbeatInterval: 1_000,
      operationTimeout: 1_000,
    })
    this.#region.on('error', () => {})
  }

  async start(): Promise<void> {
    await this.#region.start()
    setInterval(() => this.#flush(), 100)
    send({ type: 'started' })
  }

  async onOrder(order: Order): Promise<void> {
    if (order.type === 'begin') {
      this.#isOpen = true
      this.#lanes = Promise.all(Array.from({ length: this.#task.lanes }, () => this.#transferAll()))
      return
    }
    if (order.type === 'pause' || order.type === 'stop') await this.#pause()
    if (order.type === 'stop') await this.#region.stop()
    if (order.type === 'complete') await this.#each(order, (place) => this.#complete(nameOf(place)))
    const totals = order.type === 'audit' ? { totals: await this.#audit(order) } : {}
    this.#flush()
    send({ type: 'done', counts: this.#counts, owned: this.#region.owned.length, ...totals })
    if (order.type === 'stop') process.disconnect()
  }

  async #pause(): Promise<void> {
    this.#isOpen = false
    await this.#lanes
  }

  async #transferAll(): Promise<void> {
    const { accounts, owner } = this.#task
    const place = (): string => nameOf(Math.floor(Math.random() * accounts))
    while (this.#isOpen) {
      this.#lastKey += 1
      const key = `${owner}.${process.pid}.${this.#lastKey}`
      const [from, to, amount] = [place(), place(), 1 + Math.floor(Math.random() * 10)]
      const { change } = await this.#ask<Booked>(from, { type: 'withdraw', key, to, amount })
      if (change === undefined) continue
      this.#acknowledged.push([from, change, `out ${key}`])
      await this.#arrive(from, { key, to, amount, change })
      this.#counts.transfers += 1
    }
  }

  async #arrive(from: string, { key, to, amount }: OpenTransfer): Promise<void> {
    const { change = 0 } = await this.#ask<Booked>(to, { type: 'deposit', key, amount })
    this.#acknowledged.push([to, change, `in ${key}`])
    const outcome = await this.#region.tell(from, { type: 'settle', key }, { deliver: 'at-least-once' })
    this.#count(`tell: ${outcome}`)
  }

  async #complete(name: string): Promise<void> {
    const { open } = await this.#ask<Audited>(name, { type: 'audit' })
    for (const { key, to, amount } of open) {
      await this.#ask<Booked>(to, { type: 'deposit', key, amount })
      await this.#ask<Booked>(name, { type: 'settle', key })
    }
  }

  async #audit(range: { readonly first: number; readonly end: number }): Promise<Totals> {
    let [balance, open] = [0, 0]
    const changes: (readonly [string, number])[] = []
    await this.#each(range, async (place) => {
      const name = nameOf(place)
      const audited = await this.#ask<Audited>(name, { type: 'audit' })
      balance += audited.balance
      open += audited.open.length
      if (audited.changes > 0) changes.push([name, audited.changes])
    })
    return { balance, open, changes }
  }

  async #each(
    { first, end }: { readonly first: number; readonly end: number },
    work: (place: number) => Promise<void>,
  ) {
    let next = first
    const lane = async (): Promise<void> => {
      while (next < end) {
        const place = next
        next += 1
        await work(place)
      }
    }
    await Promise.all(Array.from({ length: AUDIT_WINDOW }, lane))
  }

  /** Asks until there is an answer. */
  async #ask<Answer>(name: string, event: Readonly<Record<string, unknown>>): Promise<Answer> {
    const begun = performance.now()
    for (;;) {
      try {
        const answer = await this.#region.ask<Answer>(name, event, { timeout: ASK_TIMEOUT })
        this.#count('ask: answered')
        this.#counts.longest = Math.max(this.#counts.longest, performance.now() - begun)
        return answer
      } catch (error) {
        this.#count(`ask: ${(error as { readonly code?: string }).code ?? String(error)}`)
        await sleep(PAUSE)
      }
    }
  }

  #count(outcome: string): void {
    this.#counts.outcomes[outcome] = (this.#counts.outcomes[outcome] ?? 0) + 1
  }

  #flush(): void {
    if (this.#acknowledged.length === 0) return
    send({ type: 'acknowledged', changes: this.#acknowledged })
    this.#acknowledged = []
  }
}

function send(report: Report): void {
  process.send?.(report)
}

const teller = new Teller(JSON.parse(process.argv[2] ?? '{}') as TellerTask)
process.on('message', (order: Order) => void teller.onOrder(order))
process.on('disconnect', () => process.exit())
await teller.start()
