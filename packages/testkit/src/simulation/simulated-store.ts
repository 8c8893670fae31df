import type { Clock, LeaseStore } from '@leasehold/core'
import type { VirtualClock } from '../time/virtual-clock.js'
import type { Connection, Methods } from './connection.js'
import type { SimulationPlan } from './plan.js'
import type { SeenBreak, SeenGrant } from './seen-grant.js'

export interface SimulatedServer extends Pick<SimulationPlan, 'watched' | 'batched'> {
  readonly machine: VirtualClock
  readonly onGrant: (grant: SeenGrant) => void
  readonly onBreak: (broken: SeenBreak) => void
}

/** A store in a simulation: one server, and a client in each process. */
export interface SimulatedStore {
  /** The methods that clients call over the network. */
  readonly methods: Methods
  /** The client of one process, whose clock this is. */
  open(connection: Connection, clock: Clock): LeaseStore
  /** An operator breaks the lease on a name, with the rest of its ttl as the period. Rejects if the name is free. */
  break(name: string): Promise<void>
  /** An operator deletes the record of a name, unless it is held. */
  forget(name: string): Promise<void>
  /** The number of listeners: 0 at the end, unless one has leaked. */
  readonly listeners: number
}

/** Reports each grant once, even if it is written or answered many times. */
export function onceEach(onGrant: (grant: SeenGrant) => void): (grant: SeenGrant) => void {
  const seen = new Set<string>()
  return (grant) => {
    const key = `${grant.name} ${grant.grantId} ${grant.fencingToken}`
    if (seen.has(key)) return
    seen.add(key)
    onGrant(grant)
  }
}
