import type { Leader } from '@leasehold/recipes'
import { type DirectoryEnvironment, RecordedDirectory } from './recorded-directory.js'

/** The one shard of a singleton. */
export const SINGLETON_SHARD = 0

/** The part of a `LeaderElection` that a directory reads. */
export interface ObservedElection {
  leader(): Promise<Leader | undefined>
  observe(signal?: AbortSignal): AsyncGenerator<Leader | undefined, void, undefined>
}

/** Where the leader of an election is, which shows its address in its metadata. There is one shard. */
export class ElectionDirectory extends RecordedDirectory {
  readonly #election: ObservedElection
  readonly #report: (error: unknown) => void
  readonly #closing = new AbortController()
  /** The largest term that was seen. */
  #term = -1n

  constructor({ election, ...environment }: DirectoryEnvironment & { readonly election: ObservedElection }) {
    super(environment)
    this.#election = election
    this.#report = environment.report
  }

  /** Follows the election until `close()`. Resolves at its end; never rejects. */
  async follow(): Promise<void> {
    try {
      for await (const leader of this.#election.observe(this.#closing.signal)) this.update(leader)
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#report(error)
    }
  }

  /** The leader as the record shows it now. */
  update(leader: Leader | undefined): void {
    // Two reads can end in another order than they began.
    if (leader !== undefined && leader.term < this.#term) return
    if (leader !== undefined) this.#term = leader.term
    const address = leader?.metadata.address
    const isKnown = address !== undefined && address !== ''
    this.show(isKnown ? new Map([[SINGLETON_SHARD, { address, mark: String(leader?.term) }]]) : new Map())
  }

  override close(): void {
    this.#closing.abort()
    super.close()
  }

  protected override async look(): Promise<void> {
    this.update(await this.#election.leader())
  }
}
