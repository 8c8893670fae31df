import type { Clock, Lease, LeaseStore, TimeoutSettings } from '@leasehold/core'

/** What a lease has to be able to do for some of the laws. */
export type LeaseAbility =
  /** `acquire({ wait })` waits for its turn. */
  | 'wait'
  /** `fencingToken` tells grants apart. */
  | 'tokens'
  /** It is a `StoreLease`, over a store that the trial can disturb. */
  | 'store'
  /** Who waits longest is served first. */
  | 'queue'
  | 'change'
  | 'break'
  | 'infinite'
  | 'deletion'
  | 'any-name'
  /** The store notifies its leases when it is closed. */
  | 'closing'
  | 'virtual-time'

/** What a lease of a trial is made of. */
export interface LeaseClaim {
  readonly name: string
  readonly owner: string
  /** The clock of its machine. */
  readonly clock: Clock
  readonly timeouts: TimeoutSettings
  readonly maxHold: number | undefined
  /** Puts what disturbs it in front of a store; for leases over one. */
  disturb(store: LeaseStore): LeaseStore
}

/** What leases of one trial contend for: empty, and shared by all of them. */
export interface LeaseBackend {
  readonly abilities: readonly LeaseAbility[]
  /** A lease of its own owner, as another process has it. */
  open(claim: LeaseClaim): Lease | Promise<Lease>
  /** A client of the store that nothing disturbs, for leases over one. */
  readonly outside?: LeaseStore | undefined
  /** An operator removes the record of a name. */
  delete?(name: string): unknown
  /** Cuts a lease off from what it contends for; without it, what disturbs its store does so. */
  readonly cutOff?: ((lease: Lease) => unknown) | undefined
  readonly heal?: ((lease: Lease) => unknown) | undefined
  stop?(): void | Promise<void>
}

/** A kind of lease as the laws see it. */
export interface LeaseSubject {
  /** For test names. */
  readonly name: string
  /** See `StoreSubject`. */
  readonly time: 'virtual' | 'real'
  /** In milliseconds; 10 s in virtual time and 2 s in real time unless given. */
  readonly ttl?: number | undefined
  /** Whether the backend is reached over a network or in another process: virtual time then waits for its answers. */
  readonly remote?: boolean | undefined
  start(clock: Clock): LeaseBackend | Promise<LeaseBackend>
}
