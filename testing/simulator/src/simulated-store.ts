import type { Clock, LeaseStore } from '@leasehold/core'
import type { Connection } from './connection.js'

/** With the methods whose calls are observed. */
export type ClientStore = LeaseStore & Required<Pick<LeaseStore, 'break' | 'change' | 'update'>>

/** A store in a simulation: one server, and a client in each process. */
export interface SimulatedStore {
  /** The client of one process, whose clock this is. */
  open(connection: Connection, clock: Clock): ClientStore
  /** An operator breaks the lease on a name, with the rest of its ttl as the period. Rejects if the name is free. */
  break(name: string): Promise<void>
  /** An operator deletes the record of a name, unless it is held. */
  forget(name: string): Promise<void>
  /** The number of listeners: 0 at the end, unless one has leaked. */
  readonly listeners: number
}
