import type { CasEntry, CasRecord } from '@leasehold/core/store'
import type { VirtualClock } from '@leasehold/testkit'

/** A conditional write that was sent to the chain. */
export interface Transaction {
  /** Different for each one; an entry has the id of its last write as its version. */
  readonly id: string
  readonly name: string
  readonly record: CasRecord
  /** The version that the entry must have; `undefined`: there must be none. */
  readonly version: string | undefined
}

/** The entries after a block. */
type Entries = ReadonlyMap<string, CasEntry<string>>

interface Block {
  readonly transactions: readonly Transaction[]
  readonly entries: Entries
}

const GENESIS: Block = { transactions: [], entries: new Map() }

/** A chain with a block in each `blockTime`, whose last blocks can be replaced by others. Its contract compares and sets. */
export class SimulatedChain {
  readonly clock: VirtualClock
  readonly #blocks: Block[] = [GENESIS]
  readonly #waiting: Transaction[] = []
  readonly #listeners = new Set<() => void>()
  readonly #blockTime: number

  constructor(clock: VirtualClock, blockTime: number) {
    this.clock = clock
    this.#blockTime = blockTime
    clock.schedule(blockTime, () => this.#extend())
  }

  send(transaction: Transaction): void {
    this.#waiting.push(transaction)
  }

  /** The last block that has at least this number of blocks above it. */
  confirmed(confirmations: number): Block {
    return this.#blocks[Math.max(this.#blocks.length - 1 - confirmations, 0)] ?? GENESIS
  }

  /** Whether the transaction was carried out, or refused by the contract, in a block that has at least this number of blocks above it. */
  includes(id: string, confirmations: number): boolean {
    const height = this.#blocks.findIndex(({ transactions }) =>
      transactions.some((transaction) => transaction.id === id),
    )
    return height >= 0 && height < this.#blocks.length - confirmations
  }

  /** A longer branch without the transactions of the last blocks wins. They come back as `next` says, or never. */
  reorganise(depth: number, next: (dropped: readonly Transaction[]) => readonly Transaction[] = () => []): void {
    const from = Math.max(this.#blocks.length - depth, 1)
    const dropped = this.#blocks.splice(from).flatMap(({ transactions }) => transactions)
    this.#waiting.unshift(...next(dropped))
    while (this.#blocks.length < from + depth) this.#append([])
    this.#extendNow()
  }

  /** Calls the listener after each change; returns a function that ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #extend(): void {
    this.clock.schedule(this.#blockTime, () => this.#extend())
    this.#extendNow()
  }

  #extendNow(): void {
    this.#append(this.#waiting.splice(0))
    for (const listener of [...this.#listeners]) listener()
  }

  #append(transactions: readonly Transaction[]): void {
    const entries = new Map(this.confirmed(0).entries)
    for (const { id, name, record, version } of transactions) {
      if (entries.get(name)?.version === version) entries.set(name, { record, version: id })
    }
    this.#blocks.push({ transactions, entries })
  }
}
