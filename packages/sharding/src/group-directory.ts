import type { GroupMember } from '@leasehold/recipes'
import { type DirectoryEnvironment, RecordedDirectory } from './recorded-directory.js'

export interface GroupDirectoryOptions extends DirectoryEnvironment {
  /** Reads the members from the store: `members` of the group, or `readPartitionGroup` where this process is no member. */
  readonly read: () => Promise<readonly GroupMember[]>
}

/** An owner of a shard, as its record shows it. */
interface ShownOwner {
  readonly owner: string
  readonly address: string
  readonly isDraining: boolean
}

/** Where the shards live that the members of a partition group share. A member shows its address in its metadata. */
export class GroupDirectory extends RecordedDirectory {
  readonly #read: () => Promise<readonly GroupMember[]>
  /** Those that showed a shard in the last look. */
  #owners: ReadonlyMap<number, readonly ShownOwner[]> = new Map()
  /** The owner that was chosen for each shard. */
  #chosen: ReadonlyMap<number, string> = new Map()

  constructor({ read, ...environment }: GroupDirectoryOptions) {
    super(environment)
    this.#read = read
  }

  /** The members as the records show them now: give it what the event `members` of the group has. */
  update(members: readonly GroupMember[]): void {
    const owners = new Map<number, ShownOwner[]>()
    const add = (shard: number, shown: ShownOwner): void => {
      const all = owners.get(shard)
      if (all === undefined) owners.set(shard, [shown])
      else all.push(shown)
    }
    for (const { owner, metadata, held, draining } of members) {
      const { address } = metadata
      if (address === undefined || address === '') continue
      for (const shard of held) add(shard, { owner, address, isDraining: false })
      // Entities are handed over when they are drained, not before.
      for (const shard of draining) add(shard, { owner, address, isDraining: true })
    }
    const chosen = new Map<number, string>()
    const addresses = new Map<number, string>()
    for (const [shard, all] of owners) {
      const one = this.#chosenFrom(shard, all)
      if (one === undefined) continue
      chosen.set(shard, one.owner)
      addresses.set(shard, one.address)
    }
    this.#owners = owners
    this.#chosen = chosen
    this.show(addresses)
  }

  protected override async look(): Promise<void> {
    this.update(await this.#read())
  }

  /** The record of a process that has died shows its shards until it expires, and so may that of their next owner. */
  #chosenFrom(shard: number, all: readonly ShownOwner[]): ShownOwner | undefined {
    if (all.length === 1) return all[0]
    const before = this.#owners.get(shard) ?? []
    const isNew = ({ owner }: ShownOwner): boolean => !before.some((known) => known.owner === owner)
    return (
      all.find((shown) => !shown.isDraining && isNew(shown)) ??
      all.find(({ owner, isDraining }) => !isDraining && owner === this.#chosen.get(shard)) ??
      all.find(({ isDraining }) => !isDraining) ??
      all[0]
    )
  }
}
