import type { Clock, Health, LeaseStore } from '@leasehold/core'

/** The lease under which something is written. */
export interface UnderLease {
  /** Grows with each grant of the lease. The data rejects a write with a smaller token than it has seen. */
  readonly fencingToken: bigint
  /** Aborted when the lease is lost, and when the service stops. */
  readonly signal: AbortSignal
}

/** Writes a text. Rejects with a `LeaseLostError` if a later holder of the lease has written this key. */
export type Save = (key: string, text: string, lease: UnderLease) => Promise<void>

/** The store of the leases, as `store.js` opens it. */
export interface OpenedStore {
  readonly store: LeaseStore
  readonly save: Save
  close(): Promise<void>
}

/** The parts that `main.js`, or a test, gives to the service. */
export interface ServiceParts {
  readonly store: LeaseStore
  readonly save: Save
  /** Resolves after `milliseconds`, or rejects when the signal aborts. */
  readonly pause: (milliseconds: number, options: { readonly signal: AbortSignal }) => Promise<unknown>
  readonly print: (line: string) => void
  /** Prints an error, and what to do. */
  readonly report: (error: unknown) => void
  /** The settings of the leases. */
  readonly lease: LeaseOptions
  /** The wall clock of a test. */
  readonly now?: () => Date
}

export interface LeaseOptions {
  /** Who this process is. Default: the name of its host, its process id and a random part. */
  readonly owner?: string
  /** After how many milliseconds without a heartbeat another process takes over. */
  readonly heartbeatTimeout: number
  /** The clock of a test. */
  readonly clock?: Clock
}

/** The service, once it has started. */
export interface Service {
  readonly health: () => Health
  /** Asks the work to end, waits for it, and releases the leases. */
  stop(): Promise<void>
}
