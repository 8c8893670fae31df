import type { Clock, LeaseStore } from '@leasehold/core'

/** An ability of a store that some laws need. */
export type StoreAbility =
  | 'change'
  | 'break'
  | 'watch'
  | 'watchGrant'
  | 'renewMany'
  | 'metadata'
  | 'raising'
  | 'list'
  | 'queue'
  | 'infinite'
  | 'clients'
  | 'deletion'
  | 'restoration'
  | 'restart'
  | 'partition'
  | 'processes'
  | 'server-time'
  | 'looks'
  | 'any-name'
  | 'closing'

/** One backend, made for one trial: empty, and shared by all clients that are opened. */
export interface StoreBackend {
  /**
   * A client as another process has it; where there can only be one, the same each time. It reads time from the clock
   * where the store takes one.
   */
  open(clock: Clock): LeaseStore | Promise<LeaseStore>
  /**
   * Prepares the first lease on a name, where that takes the backend longer than the limit of a call in a trial: a sixth of
   * the ttl. Asked once for each lease.
   */
  prepare?(name: string): unknown
  /** Cuts a client off, so that its calls hang or fail; without it, `FaultyStore` does so in front of the client. */
  cutOff?(client: LeaseStore): void | Promise<void>
  /** Ends the effect of `cutOff`; required with it. */
  heal?(client: LeaseStore): void | Promise<void>
  /** An operator removes the record of a name, even if it is held. */
  delete?(name: string): unknown
  /**
   * Takes a copy of the stored record of a name, as a backup does, and resolves with a function that puts the copy back
   * in the place of the record that is stored then. That function resolves when the backend has taken it.
   */
  copy?(name: string): Promise<() => unknown>
  /** The backend ends and begins again, with all that it has confirmed. */
  restart?(): void | Promise<void>
  /** A process of its own takes the lease, for the ttl of the subject, and holds it until it is killed. */
  holdElsewhere?(name: string): Promise<HolderElsewhere>
  /** Stops the backend of the trial. The clients are closed before. */
  stop?(): void | Promise<void>
}

export interface HolderElsewhere {
  readonly fencingToken: bigint
  /** Ends the process with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** A store for the laws: its abilities, and functions to create it, cut it off and heal it. */
export interface StoreSubject {
  /** For test names. */
  readonly name: string
  /**
   * `virtual`: the backend and its clients take all time from the clocks that they are given, so that the laws let it
   * pass at once. `real`: the laws wait; run them side by side.
   */
  readonly time: 'virtual' | 'real'
  /** The ttl of the leases in the trials, in milliseconds; 10 s in virtual time and 2 s in real time unless given. */
  readonly ttl?: number | undefined
  /** Whether the backend is reached over a network or in another process: virtual time then waits for its answers. */
  readonly remote?: boolean | undefined
  /**
   * Whether several clients can be opened, as by several processes: without it they are one and the same, and laws on
   * them are skipped.
   */
  readonly clients?: boolean | undefined
  /**
   * Whether expiry is by the clock of the backend. Without it, challengers observe the record: each has to have seen it
   * for a ttl.
   */
  readonly serverTime?: boolean | undefined
  /**
   * Whether any two names are two leases; `true` unless given. A store that shares the naming of other programs may
   * refuse some, and laws on unusual names are then skipped.
   */
  readonly anyName?: boolean | undefined
  /** The beginning of the lease names of the trials; none unless given. A few names have it in upper case, or after a `/`. */
  readonly prefix?: string | undefined
  start(clock: Clock): StoreBackend | Promise<StoreBackend>
}
