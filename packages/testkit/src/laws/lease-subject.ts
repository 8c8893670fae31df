import type { Clock, CreateLeaseOptions, Lease, LeaseStore } from '@leasehold/core'
import type { StoreSubject } from './store-subject.js'

/** An ability of a lease that some laws need. */
export type LeaseAbility =
  /** `acquire({ wait })` waits for its turn. */
  | 'wait'
  /** Grants have different values of `fencingToken`. */
  | 'tokens'
  /** It is a `StoreLease`, over a store that the trial can disturb. */
  | 'store'
  /** The waiter that has waited longest is granted the lease first. */
  | 'queue'
  | 'change'
  | 'break'
  | 'infinite'
  | 'deletion'
  | 'any-name'
  /** The store notifies its leases when it is closed. */
  | 'closing'
  | 'virtual-time'

/** A lease that a trial asks for. */
export interface LeaseClaim {
  readonly name: string
  /** Its options, as for `createLease`: with its owner, and the clock of its machine. */
  readonly options: CreateLeaseOptions & { readonly owner: string; readonly clock: Clock }
  /** Puts a `FaultyStore` in front of a store; for leases over a store. */
  disturb(store: LeaseStore): LeaseStore
}

/** The backend of one trial: empty, and shared by all of its leases. */
export interface LeaseBackend {
  readonly abilities: readonly LeaseAbility[]
  /** A lease of its own owner, as another process has it. */
  open(claim: LeaseClaim): Lease | Promise<Lease>
  /** A client of the store that nothing disturbs, for leases over one. */
  readonly outside?: LeaseStore | undefined
  /** An operator removes the record of a name. */
  delete?(name: string): unknown
  /** Cuts a lease off from the backend. By default, the faults of its store do that. */
  readonly cutOff?: ((lease: Lease) => unknown) | undefined
  readonly heal?: ((lease: Lease) => unknown) | undefined
  stop?(): void | Promise<void>
}

/** A kind of lease as the laws see it. */
export interface LeaseSubject extends Pick<StoreSubject, 'name' | 'time' | 'ttl' | 'remote'> {
  start(clock: Clock): LeaseBackend | Promise<LeaseBackend>
}
