import type { Clock } from '@leasehold/core'
import type { ShardDirectory } from './shard-directory.js'

/** For how many pauses between two looks a process is believed that the records contradict. */
const BELIEVED_FOR = 4

/** What every directory is given. */
export interface DirectoryEnvironment {
  readonly clock: Clock
  readonly random: () => number
  /** The shortest time between two looks that `refresh` asks for, in milliseconds. */
  readonly pause: number
  /** Gets the first failure of each outage of the store. */
  readonly report: (error: unknown) => void
}

/** What the records show of a shard. */
export interface ShownShard {
  readonly address: string
  /** Differs where the same process has the shard in another way, or again. */
  readonly mark: string
}

/** What another process has said of a shard. */
interface Learned {
  readonly address: string | undefined
  /** The mark that the records showed then: they can be older than the answer of the process. */
  readonly mark: string | undefined
  readonly until: number
}

/** A directory that looks at the records now and then, and believes the answers of processes meanwhile. */
export abstract class RecordedDirectory implements ShardDirectory {
  readonly #environment: DirectoryEnvironment
  readonly #learned = new Map<number, Learned>()
  readonly #listeners = new Set<() => void>()
  #shown: ReadonlyMap<number, ShownShard> = new Map()
  #lookedAt = Number.NEGATIVE_INFINITY
  #cancelLook: (() => void) | undefined
  #isLooking = false
  #isFailing = false
  #isClosed = false

  constructor(environment: DirectoryEnvironment) {
    this.#environment = environment
  }

  addressOf(shard: number): string | undefined {
    const learned = this.#learned.get(shard)
    return learned === undefined ? this.#shown.get(shard)?.address : learned.address
  }

  learn(shard: number, address: string | undefined): void {
    const { clock, pause } = this.#environment
    const shown = this.#shown.get(shard)
    const until = clock.now() + BELIEVED_FOR * pause
    if (address === shown?.address) this.#learned.delete(shard)
    else this.#learned.set(shard, { address, mark: shown?.mark, until })
  }

  refresh(): void {
    if (this.#isClosed || this.#isLooking || this.#cancelLook !== undefined) return
    const { clock, random, pause } = this.#environment
    // Jitter, so that the processes that miss one owner do not ask the store together.
    const due = this.#lookedAt + pause * (0.75 + 0.5 * random())
    const wait = due - clock.now()
    if (wait <= 0) void this.#lookNow()
    else this.#cancelLook = clock.schedule(wait, () => void this.#lookNow())
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks no more. */
  close(): void {
    this.#isClosed = true
    this.#cancelLook?.()
    this.#listeners.clear()
  }

  /** Reads the records and gives them to `show`. May reject. */
  protected abstract look(): Promise<void>

  /** The records show these shards. */
  protected show(shown: ReadonlyMap<number, ShownShard>): void {
    const shards = new Set([...this.#shown.keys(), ...shown.keys(), ...this.#learned.keys()])
    const before = new Map(Array.from(shards, (shard) => [shard, this.addressOf(shard)]))
    this.#shown = shown
    const now = this.#environment.clock.now()
    for (const [shard, { mark, until }] of this.#learned) {
      if (shown.get(shard)?.mark !== mark || now >= until) this.#learned.delete(shard)
    }
    const isChanged = [...before].some(([shard, address]) => this.addressOf(shard) !== address)
    if (isChanged) for (const listener of [...this.#listeners]) listener()
  }

  async #lookNow(): Promise<void> {
    this.#cancelLook = undefined
    this.#isLooking = true
    this.#lookedAt = this.#environment.clock.now()
    try {
      await this.look()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed) this.#environment.report(error)
      this.#isFailing = true
    } finally {
      this.#isLooking = false
    }
  }
}
