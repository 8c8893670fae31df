import type { Clock, LeaseStore } from '@leasehold/core'
import type { VirtualClock } from '../time/virtual-clock.js'
import type { Connection, Methods } from './connection.js'

/** What the store grants, at the very instant at which it does. */
export interface SeenGrant {
  readonly name: string
  readonly owner: string
  readonly grantId: string
  readonly fencingToken: bigint
}

/** What a store of a run is given. */
export interface SimulatedServer {
  /** The clock of its machine. */
  readonly machine: VirtualClock
  /** Whether it tells waiters of their turn. */
  readonly watched: boolean
  /** Whether it renews many leases at once. */
  readonly batched: boolean
  /** To be told of every new grant. */
  readonly onGrant: (grant: SeenGrant) => void
}

/** A store as a run has it: one server, and a client of it in each process. */
export interface SimulatedStore {
  /** What clients ask it over the network. */
  readonly methods: Methods
  /** The client of one process, whose clock this is. */
  open(connection: Connection, clock: Clock): LeaseStore
  /** An operator breaks the lease on a name, after what is left of its ttl. */
  break(name: string): Promise<void>
  /** An operator deletes the record of a name, unless somebody holds it. */
  forget(name: string): Promise<void>
  /** How many listen to it: 0 where nothing was left behind. */
  readonly listeners: number
}

/** Tells of a grant once, however often it is written or answered. */
export function onceEach(onGrant: (grant: SeenGrant) => void): (grant: SeenGrant) => void {
  const seen = new Set<string>()
  return (grant) => {
    const key = `${grant.name} ${grant.grantId} ${grant.fencingToken}`
    if (seen.has(key)) return
    seen.add(key)
    onGrant(grant)
  }
}
