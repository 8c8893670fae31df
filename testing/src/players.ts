import { type CreateLeaseOptions, createLease, type LeaseLost, type LeaseStore, type StoreLease } from '@leasehold/core'
import { eventually } from './eventually.js'
import { silentLogger } from './silent-logger.js'

/** A lease and its history. */
export interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  /** The names of its events, in order. */
  readonly events: string[]
  /** The causes of its jeopardies. */
  readonly troubles: unknown[]
  /** The other valid holders when it was granted: there must be none. */
  readonly overlaps: string[]
}

/** The leases of a test, each of an owner of its own. */
export class Players {
  readonly #times: CreateLeaseOptions
  readonly #players: Player[] = []

  /** `times`: of the leases, unless others are given. */
  constructor(times: CreateLeaseOptions) {
    this.#times = times
  }

  /** A lease on `job`, unless another name is given. */
  player(owner: string, store: LeaseStore, options: CreateLeaseOptions & { readonly name?: string } = {}): Player {
    const { name = 'job', ...rest } = options
    const lease = createLease(store, name, { ...this.#times, ...rest, owner, logger: silentLogger })
    const player: Player = { lease, losses: [], events: [], troubles: [], overlaps: [] }
    for (const event of ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released'] as const) {
      lease.on(event, () => void player.events.push(event))
    }
    lease.on('acquired', () => {
      const others = this.#players.filter((other) => other !== player && isValidRival(other, player))
      player.overlaps.push(...others.map((other) => other.lease.settings.owner))
    })
    lease.on('jeopardy', ({ cause }) => void player.troubles.push(cause))
    lease.on('lost', (lost) => void player.losses.push(lost))
    this.#players.push(player)
    return player
  }
}

function isValidRival({ lease }: Player, { lease: own }: Player): boolean {
  return lease.settings.name === own.settings.name && lease.checkLease()
}

/** How many heartbeats were confirmed. */
export function heartbeats({ events }: Player): number {
  return events.filter((event) => event === 'renewed').length
}

/** Resolves when this number of further heartbeats was confirmed. */
export async function hasRenewed(player: Player, more = 1): Promise<void> {
  const before = heartbeats(player)
  await eventually(`${more} more heartbeats`, async () => heartbeats(player) >= before + more)
}
