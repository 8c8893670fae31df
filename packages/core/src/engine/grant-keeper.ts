import type { Grant } from '../store/lease-record.js'
import type { RenewOutcome } from '../store/lease-store.js'

/** The key under which a store carries the keeper of its leases' grants. */
export const grantKeeper = Symbol.for('@leasehold/core/grantKeeper')

/** Renews grants from another thread while the thread of their leases is blocked; see `@leasehold/heartbeat-thread`. */
export interface GrantKeeper {
  /** Starts the thread; `undefined` if it runs. Rejects if it cannot be started. */
  start(): Promise<void> | undefined
  /** Says whether the lease is held or asked for. While it is, it is notified if the thread ends by itself. */
  engage(lease: KeptLease, isEngaged: boolean): void
  /** Keeps a grant until `KeptGrant.end`. The thread renews the grant whenever the lease has not renewed it in time. */
  keep(grant: GrantToKeep, lease: KeptLease): KeptGrant
}

/** A lease whose grants are kept. */
export interface KeptLease {
  /** For how long its grants are renewed while its own thread shows no sign of life. `undefined`: the keeper decides. */
  readonly unresponsiveAfter: number | undefined
  /** The store has refused the grant to the keeper. */
  onKeptRefused(): void
  onKeeperEnded(cause: unknown): void
  /** Ends the lease for its user, and frees its grant. */
  end(): Promise<void>
}

/** Instants are on the system clock. */
export interface GrantToKeep {
  readonly grant: Grant
  /** When the last confirmed request was sent. */
  readonly confirmedAt: number
  /** How long the grant is valid from then on, in milliseconds. */
  readonly validity: number
  /** When it ends by `maxHold`. */
  readonly holdUntil: number
  /** How long after the last confirmed heartbeat the next one is due, in milliseconds. */
  readonly heartbeatAfter: number
  /** The time limit of a heartbeat, in milliseconds. */
  readonly timeout: number
  /** The deadline of a self-fenced grant: the thread moves it with each heartbeat that is confirmed. */
  readonly deadline: SharedDeadline | undefined
}

/** The keeper's knowledge of a grant, read from memory that the threads share. Instants are on the system clock. */
export interface KeptGrant {
  readonly grant: Grant
  /** When the keeper sent its last confirmed heartbeat; `-Infinity` before the first. */
  readonly ownAt: number
  /**
   * When the last confirmed heartbeat was sent, by the keeper or by the lease. The lease may not have read its answer yet.
   */
  readonly confirmedAt: number
  /** The grant is not valid any more: the store has refused it, or the thread has ended. */
  readonly isOver: boolean
  /** The answer with which the store refused the grant, once it has arrived here. */
  readonly refusal: Extract<RenewOutcome, { readonly renewed: false }> | undefined
  /** A heartbeat that was due was not sent, because the thread of the lease showed no sign of life. */
  readonly isUnresponsive: boolean
  /** Stops keeping the grant: from the next instant on, nothing is renewed and no deadline is moved. */
  end(): void
}

/** The deadline of a grant in shared memory, which the keeper of the grant moves while this thread is blocked. */
export interface SharedDeadline {
  /** Two words of 64 bits for each place: when to ask the process to end, and when to kill it, in nanoseconds of `now`. */
  readonly memory: SharedArrayBuffer
  readonly place: number
  /** The time of the memory, in milliseconds. */
  now(): number
  /** How long after the end of the validity the process is killed, in milliseconds. */
  readonly killAfter: number
  /** How long before that it is asked to end; `-Infinity` if it is not asked. */
  readonly askBefore: number
}
