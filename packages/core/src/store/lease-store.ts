import type { Clock } from '../clock.js'
import type { Grant, LeaseRecord } from './lease-record.js'

/** What a store can do and what it asks of the settings. The engine and the laws read it; users need not. */
export interface StoreLimits {
  /** The smallest ttl the store accepts, in milliseconds. */
  readonly minTtl: number
  /** The largest finite ttl the store accepts, in milliseconds. */
  readonly maxTtl: number
  /** Whether a lease may be held without expiry (`heartbeatTimeout: Infinity`). */
  readonly infinite: boolean
  /** Whether waiting requests are served first come, first served. */
  readonly ordered: boolean
}

export interface AcquireRequest {
  /** The lease name: any well-formed Unicode string up to 1,024 bytes of UTF-8; the store maps it injectively. */
  readonly name: string
  readonly owner: string
  /**
   * A GUID proposed by the client. A request that bears the id of the grant in force succeeds again and starts the
   * ttl anew, so that a lost response can be repeated.
   */
  readonly grantId: string
  /** Milliseconds; `Infinity` where the store's limits allow it. */
  readonly ttl: number
  readonly metadata?: Readonly<Record<string, string>>
  /**
   * Where the store is ordered: a refused request keeps its place in the queue, under its grant id, until it is
   * granted, withdrawn, or not repeated for a ttl. A request without it does not overtake those in the queue.
   */
  readonly queue?: boolean
}

export type AcquireOutcome =
  | { readonly granted: true; readonly grant: Grant }
  /** Certainly not granted. `holder` is absent where nobody holds the name, but the turn is another waiter's. */
  | { readonly granted: false; readonly holder?: LeaseRecord }

/** Why a store refuses a heartbeat. Each is definitive: the grant will never be valid again. */
export type RenewRefusal = 'taken' | 'broken' | 'deleted' | 'expired'

export type RenewOutcome =
  | { readonly renewed: true }
  | { readonly renewed: false; readonly reason: RenewRefusal; readonly holder?: LeaseRecord }

export type ReleaseOutcome =
  | { readonly released: true }
  /** The grant was not in force any more; nothing was changed. `holder` is who holds the name now, if anyone does. */
  | { readonly released: false; readonly holder?: LeaseRecord }

export interface BreakOptions {
  /**
   * For how long the name stays locked, in milliseconds, at most what was left of the ttl; absent: for what was left.
   * An infinite lease without a period breaks at once.
   */
  readonly period?: number
  /** Kept for whoever reads the record or the log. */
  readonly reason?: string
}

/** Operations of a store without I/O: see `LeaseStore.immediate`. */
export interface ImmediateOperations {
  /** The clock by which the store decides on expiry. */
  readonly clock: Clock
  /** `now` is the instant of that clock at which it is asked: who shares the clock need not read it twice. */
  acquire(request: AcquireRequest, now: number): AcquireOutcome
  release(grant: Grant): ReleaseOutcome
}

/**
 * The atomic operations on lease records in one backend. Implement it and get the engine: heartbeats, jeopardy,
 * loss, fencing, waiting and events are written once, above it.
 *
 * The rules of every method:
 * - It resolves only with what is certain. It **rejects when the outcome is unknown** (time-out, connection lost), and
 *   also, with a `LeaseUnauthorisedError`, `LeaseConfigurationError` or `LeaseNameError`, when it certainly had no
 *   effect and never will.
 * - `signal` is the attempt's time limit: when it aborts, reject at once and end the request. A signal is used for
 *   one attempt at a time but may be used for several in turn: remove what you added to it.
 * - Every mutation is conditional on the grant id (or on the version that was read). No blind write, no blind delete.
 * - Expiry is decided by the store's own clock, or by observation; never by comparing a foreign timestamp with the
 *   local clock.
 */
export interface LeaseStore {
  readonly limits: StoreLimits
  /**
   * The operations whose outcome is known at once, where there is no I/O. They do what `acquire` and `release` do, and
   * throw what those reject with; the engine then answers a caller without a detour through the event loop.
   */
  readonly immediate?: ImmediateOperations
  /**
   * Aborted as soon as `close` is called. Holders then lose their leases at once (`closed`), and waiters are rejected.
   * Without it they find out by the calls that fail: a holder when its validity ends, a waiter without a limit never.
   */
  readonly closed?: AbortSignal
  /** What kind of store it is, for errors and logs, such as `memory` or `redis`. */
  readonly kind?: string

  acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome>

  /** Starts the ttl of the grant anew, if the grant is in force. */
  renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome>

  /** Frees the name, if the grant is in force. Where the fencing token lives in the record, the record is kept. */
  release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome>

  /** The record of the name, or `undefined` where there never was one (or it was deleted). */
  read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined>

  /**
   * Passes the lease on without freeing the name: swaps the grant in force for a new one with the given id and owner,
   * a larger fencing token and a fresh ttl. Not granted where the grant is not in force.
   */
  change?(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome>

  /**
   * Ends a lease whoever holds it, for operators; the holder is told at its next heartbeat. Rejects with a
   * `LeaseConflictError` where there is nothing to break. Resolves with the milliseconds until the name is free.
   */
  break?(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ readonly remaining: number }>

  /** Gives up the place in the queue that the request with this grant id has. No effect where it has none. */
  withdraw?(name: string, grantId: string, signal: AbortSignal): Promise<void>

  /**
   * Yields when the name may have become free to acquire; with a grant id: when it may be that waiter's turn. The
   * first value may come at once. A spurious value does no harm; a missing one is made up for by polling. Ends
   * when `signal` aborts, and then leaves nothing behind. A store that is not ordered may also yield the record of a
   * holder that it saw just now, with what `remaining` time: the waiter then asks again only at that expiry.
   */
  watch?(name: string, signal: AbortSignal, grantId?: string): AsyncIterable<LeaseRecord | undefined>

  /**
   * Yields when somebody else may have changed or removed the record of a grant in force: the engine then sends a
   * heartbeat at once, instead of when it is due. For backends in which other programs, or operators, write the records
   * too; a store without it leaves such a change to the next heartbeat. The owner's own operations must not make it
   * yield; any other spurious value costs a heartbeat. The engine calls it once for each grant: the store has to resume
   * what it watches by itself. Ends when `signal` aborts, and then leaves nothing behind.
   */
  watchGrant?(grant: Grant, signal: AbortSignal): AsyncIterable<unknown>

  /**
   * Renews many grants in one round trip; outcomes are in the order of the grants, with the error that `renew` would
   * have rejected with for each whose outcome is unknown. It rejects when that is so of all of them.
   */
  renewMany?(grants: readonly Grant[], signal: AbortSignal): Promise<readonly (RenewOutcome | Error)[]>

  /** Ends connections, watches and timers. Operations afterwards reject with a `LeaseUnavailableError`. */
  close(): Promise<void>
}
