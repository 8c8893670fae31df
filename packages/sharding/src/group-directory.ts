import type { GroupMember } from '@leasehold/recipes'
import { type DirectoryEnvironment, RecordedDirectory } from './recorded-directory.js'

export interface GroupDirectoryOptions extends DirectoryEnvironment {
  /** Reads the members from the store: `members` of the group, or `readPartitionGroup` where this process is no member. */
  readonly read: () => Promise<readonly GroupMember[]>
}

/** How a member has a shard. The best is the first. */
const ways = ['held', 'draining', 'claimed'] as const

/** A member that has a shard, as its record shows it. */
interface ShownOwner {
  readonly owner: string
  readonly address: string
  readonly way: (typeof ways)[number]
}

/** Where the shards live that the members of a partition group share. A member shows its address in its metadata. */
export class GroupDirectory extends RecordedDirectory {
  readonly #read: () => Promise<readonly GroupMember[]>
  /** Those that held a shard in the last look. */
  #holders: ReadonlyMap<number, readonly ShownOwner[]> = new Map()
  /** The owner that was chosen for each shard. */
  #chosen: ReadonlyMap<number, ShownOwner> = new Map()

  constructor({ read, ...environment }: GroupDirectoryOptions) {
    super(environment)
    this.#read = read
  }

  /** The members as the records show them now: give it what the event `members` of the group has. */
  update(members: readonly GroupMember[]): void {
    const holders = new Map<number, ShownOwner[]>()
    const others = new Map<number, ShownOwner>()
    // Entities are handed over when they are drained, not before. A shard that nobody holds is soon at the one that claims it.
    for (const way of ways) {
      for (const { owner, metadata, [way]: shards } of members) {
        const { address } = metadata
        if (address === undefined || address === '') continue
        for (const shard of shards) {
          const shown = { owner, address, way }
          if (way !== 'held') others.set(shard, others.get(shard) ?? shown)
          else holders.set(shard, [...(holders.get(shard) ?? []), shown])
        }
      }
    }
    const chosen = new Map(others)
    for (const [shard, all] of holders) chosen.set(shard, this.#chosenFrom(shard, all) as ShownOwner)
    this.#holders = holders
    this.#chosen = chosen
    const shown = Array.from(chosen, ([shard, { owner, address, way }]) => {
      return [shard, { address, mark: `${way} ${owner}` }] as const
    })
    this.show(new Map(shown))
  }

  protected override async look(): Promise<void> {
    this.update(await this.#read())
  }

  /** The record of a process that has died shows its shards until it expires, and so may that of their next owner. */
  #chosenFrom(shard: number, all: readonly ShownOwner[]): ShownOwner | undefined {
    const before = this.#holders.get(shard) ?? []
    return (
      all.find(({ owner }) => !before.some((known) => known.owner === owner)) ??
      all.find(({ owner }) => owner === this.#chosen.get(shard)?.owner) ??
      all[0]
    )
  }
}
