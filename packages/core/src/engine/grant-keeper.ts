import type { Grant } from '../store/lease-record.js'
import type { RenewOutcome } from '../store/lease-store.js'

/** The key under which a store has what renews the grants of its leases while their own thread is blocked. */
export const grantKeeper = Symbol.for('@leasehold/core/grantKeeper')

/** Renews grants from another thread while that of their leases is blocked; see `@leasehold/heartbeat-thread`. */
export interface GrantKeeper {
  /** Starts the thread; `undefined` if it runs. Rejects if it cannot be started. */
  start(): Promise<void> | undefined
  /** The lease is held, or asked for, and is notified if the thread ends by itself; or it is neither any more. */
  engage(lease: KeptLease, isEngaged: boolean): void
  /** Keeps a grant from now on. Until it is ended, the thread renews it where the lease itself does not in time. */
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
  /** When a heartbeat is due after the last confirmed one, in milliseconds. */
  readonly heartbeatAfter: number
  /** The time limit of a heartbeat, in milliseconds. */
  readonly timeout: number
  /** The deadline of a self-fenced grant: the thread moves it with each heartbeat that is confirmed. */
  readonly deadline: SharedDeadline | undefined
}

/** The keeper's knowledge of a grant, read from memory that the threads share. Instants are on the system clock. */
export interface KeptGrant {
  readonly grant: Grant
  /** When the last confirmed heartbeat was sent that the keeper itself has sent; `-Infinity` before the first. */
  readonly ownAt: number
  /** The same, with those that the lease has sent and whose answers may not have been read here yet. */
  readonly confirmedAt: number
  /** The grant is not valid any more: the store has refused it, or the thread has ended. */
  readonly isOver: boolean
  /** The answer of the store that has refused it, once it has arrived here. */
  readonly refusal: Extract<RenewOutcome, { readonly renewed: false }> | undefined
  /** A heartbeat that was due was not sent, because the thread of the lease showed no sign of life. */
  readonly isUnresponsive: boolean
  /** The grant is not kept any more. Nothing is renewed, and no deadline moved, from the next instant on. */
  end(): void
}

/** The deadline of a grant in shared memory, which the keeper of the grant moves while this thread is blocked. */
export interface SharedDeadline {
  /** For each place two words of 64 bits, in nanoseconds of `now`: when to ask the process to end, and when to kill it. */
  readonly memory: SharedArrayBuffer
  readonly place: number
  /** The time of the memory, in milliseconds. */
  now(): number
  /** How long after the end of the validity the process is killed, in milliseconds. */
  readonly killAfter: number
  /** How long before that it is asked to end; `-Infinity` if it is not asked. */
  readonly askBefore: number
}
