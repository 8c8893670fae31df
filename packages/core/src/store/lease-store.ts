import type { Grant, LeaseRecord, Metadata } from './lease-record.js'
import type { StoreCall } from './store-call.js'
import type { StoreFinding } from './store-finding.js'

/** The abilities of a store, and its requirements of the settings. The engine and the laws read them; users need not. */
export interface StoreLimits {
  /** The smallest ttl that the store accepts, in milliseconds. */
  readonly minTtl: number
  /** The largest finite ttl that the store accepts, in milliseconds. */
  readonly maxTtl: number
  /** Whether a lease may be held without expiry (`heartbeatTimeout: Infinity`). */
  readonly infinite: boolean
  /** Whether waiters are served first come, first served. */
  readonly ordered: boolean
  /**
   * How many bytes of metadata a record has room for, counted as the UTF-8 of all keys and values; 4,096 unless given.
   * 0: the layout has no room, and `previous` is always `undefined`.
   */
  readonly metadata?: number
  /**
   * Whether `remaining` of a record is the time for which this process has still to observe it, as in stores over a
   * compare-and-set register. Another challenger may have observed it for longer, and be granted the name earlier.
   */
  readonly observed?: boolean
  /**
   * For an observed store: how many short looks at a record are needed to replace a dead holder, each by a process that may end
   * right after it. 1: the store keeps the times of its writes, and a look replaces the holder from its ttl and `extra`
   * milliseconds on. 2: the first look leaves a mark, and a look by any process, a ttl and `extra` milliseconds later, replaces
   * the holder. Absent: a challenger has to observe the record for a ttl itself. A store that is not observed needs one look.
   */
  readonly looks?: { readonly needed: 1 | 2; readonly extra: number }
  /**
   * When the name of a silent holder is certainly free: this number of ttls and `extra` milliseconds after its last heartbeat.
   * One ttl unless given. A store may keep a name for longer than the holder counts on.
   */
  readonly frees?: { readonly ttls: number; readonly extra: number }
  /** Whether the resources have versions, so that `acquire` can be conditional on one (`ifMatch`). */
  readonly versions?: boolean
}

export interface AcquireRequest {
  /** The lease name: any well-formed Unicode string up to 1,024 bytes of UTF-8. The store maps it injectively. */
  readonly name: string
  readonly owner: string
  /**
   * A GUID proposed by the client. A request with the id of the grant in force succeeds again, and restarts the lease with
   * the ttl of the request: a request whose response was lost can be repeated, and an adopter can set its own ttl.
   */
  readonly grantId: string
  /** Milliseconds; `Infinity` where the store's limits allow it. */
  readonly ttl: number
  /**
   * Replaces the metadata in the record. Unless given, a new grant keeps the metadata as the last holder left it, without
   * the `breakReason` of a break: see `withoutBreakReason`. A repeated request keeps the metadata of the grant.
   */
  readonly metadata?: Metadata
  /**
   * Where the store has versions: the version that the resource must still have. With another one, the request has no
   * effect and rejects with a `LeaseConflictError`.
   */
  readonly ifMatch?: string
  /**
   * Where the store is ordered: a refused request keeps its place in the queue, under its grant id, until it is
   * granted, withdrawn, or not repeated for a ttl: of a client that polls, for the shorter time that its store names. A
   * request without it does not overtake the requests in the queue.
   */
  readonly queue?: boolean
}

export type AcquireOutcome =
  | {
      readonly granted: true
      readonly grant: Grant
      /**
       * The metadata that the last holder left, also when its lease expired or was broken; the same when a request is
       * repeated. Absent where there was no earlier holder, or the store does not know.
       */
      readonly previous?: Metadata
    }
  /**
   * Certainly not granted. `holder` is absent if the name is free, but it is another waiter's turn. `left`: a part of the
   * store has the grant and keeps it for the next request with its id. The engine releases it when it stops asking.
   */
  | { readonly granted: false; readonly holder?: LeaseRecord; readonly left?: boolean }

/** Why a store refuses a heartbeat. Each is definitive: the grant will never be valid again. */
export type RenewRefusal = 'taken' | 'broken' | 'deleted' | 'expired'

/**
 * `holder`: the record of the present holder. With `taken`, it may be the record of the refused grant itself: another
 * program removed its owner, and the name stays locked for others. The engine then releases the grant. It also does so with
 * `left`: a part of the store may still have the grant, or a later one with its id. The holder has stopped by then.
 */
export type RenewOutcome =
  | { readonly renewed: true }
  | {
      readonly renewed: false
      readonly reason: RenewRefusal
      readonly holder?: LeaseRecord
      readonly left?: boolean
    }

export type ReleaseOutcome =
  | { readonly released: true }
  /** The grant was no longer in force; nothing was changed. `holder` holds the name now; absent if the name is free. */
  | { readonly released: false; readonly holder?: LeaseRecord }

export interface BreakOptions {
  /**
   * For how long the name stays locked, in milliseconds, at most the time left of the ttl; absent: the time left.
   * An infinite lease without a period breaks at once.
   */
  readonly period?: number
  /** Kept in the metadata of the record, as `breakReason`, until the next grant. */
  readonly reason?: string
  /**
   * Breaks this grant only: if another one is the last of the name, rejects with a `LeaseConflictError` and changes
   * nothing. `acquire({ preempt })` always gives it.
   */
  readonly grantId?: string
}

/**
 * The atomic operations on lease records in one backend. Implement it and get the engine: heartbeats, jeopardy,
 * loss, fencing, waiting and events are written once, above it.
 *
 * The rules of every method:
 * - It resolves only with what is certain. It **rejects when the outcome is unknown** (time-out, connection lost). It
 *   also rejects with a `LeaseUnauthorisedError`, `LeaseConfigurationError` or `LeaseNameError` when the operation
 *   certainly had no effect and never will.
 * - `call` is the attempt. When it is aborted, end the request and reject at once.
 * - Every change is conditional on the grant id, or on the version that was read. No blind write, no blind delete.
 * - The store decides on expiry by its own clock, or by observation; never by comparing a foreign timestamp with the
 *   local clock.
 */
export interface LeaseStore {
  readonly limits: StoreLimits
  /**
   * Aborted as soon as `close` is called. Holders then lose their leases at once (`closed`), and waiters are rejected.
   * Without it, a holder notices by failed calls when its validity ends, and a waiter without a limit never notices.
   */
  readonly closed?: AbortSignal
  /** The kind of the store, for errors and logs, such as `memory` or `redis`. */
  readonly kind?: string

  acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome>

  /**
   * Restarts the ttl of the grant, if the grant is in force. A grant that has ended never comes back: where the record has the
   * grant id and a larger fencing token, the store refuses with `expired` and `left`. A late duplicate of a claim can be
   * granted again, under the same grant id, and another owner may have held the name in between.
   */
  renew(grant: Grant, call: StoreCall): Promise<RenewOutcome>

  /**
   * Frees the name, if the grant is in force, and leaves `metadata` behind; without it, the metadata stays as it is. It also
   * stays if the record has a larger fencing token: a late duplicate of a claim can be granted again, under the same grant id.
   * Where the fencing token lives in the record, the record is kept.
   */
  release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome>

  /** The record of the name, or `undefined` where there never was one (or it was deleted). */
  read(name: string, call: StoreCall): Promise<LeaseRecord | undefined>

  /**
   * Replaces the metadata of the grant and restarts its ttl, if the grant is in force. Refused like a heartbeat if it is not.
   * Absent, or always rejects, where the layout has no room for metadata.
   */
  update?(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome>

  /**
   * Raises the fencing token of the grant in force to `token`, and restarts its ttl: every later grant of the name then has a
   * larger token. A token that is as large already stays as it is, so that the request can be repeated. Refused like a
   * heartbeat if the grant is not in force. Rejects with a `LeaseConfigurationError` if the store cannot count that far. The
   * fencing token of the holder's own grant is then `token`, in all later operations.
   *
   * For leases that move between stores whose tokens grow from different numbers: see `migrate`.
   */
  raiseToken?(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome>

  /**
   * Yields the record of every name that starts with `prefix`, held or not, in any order. A name that has a record
   * throughout the listing is yielded exactly once; one that is created or deleted meanwhile may be missing.
   */
  list?(prefix: string, call: StoreCall): AsyncIterable<LeaseRecord>

  /**
   * Passes the lease on without freeing the name: replaces the grant in force by a new one with the given id and owner,
   * a larger fencing token and a fresh ttl. Not granted where the grant is not in force. The id may be that of a waiter: its
   * place in the queue then ends with the change, and its next request is a repeated one. The watch with its grant id yields
   * at once. A store without `list` need not do this for waiters.
   */
  change?(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome>

  /**
   * Ends a lease without its holder, for operators; the holder notices at its next heartbeat. Rejects with a
   * `LeaseConflictError` where there is nothing to break. Resolves with the milliseconds until the name is free.
   */
  break?(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }>

  /** Gives up the place in the queue that the request with this grant id has. No effect where it has none. */
  withdraw?(name: string, grantId: string, call: StoreCall): Promise<void>

  /**
   * Yields when the name may have become free to acquire; with a grant id: when it may be that waiter's turn. The
   * first value may come at once. A spurious value does no harm; polling makes up for a missing one. Ends when `call`
   * is aborted, and then leaves nothing behind. A store that is not ordered may also yield the record of a holder that
   * it has just seen, with its `remaining` time: the waiter then asks again only at that expiry.
   */
  watch?(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined>

  /**
   * Yields when another program may have changed or removed the record of a grant in force: the engine then sends a
   * heartbeat at once, instead of when it is due. For backends in which other programs, or operators, write the records
   * too; without it, the next heartbeat finds the change. The owner's own operations must not make it yield; any other
   * spurious value costs a heartbeat. The engine calls it once for each grant, so the store has to resume a broken watch
   * by itself. Ends when `call` is aborted, and then leaves nothing behind.
   */
  watchGrant?(grant: Grant, call: StoreCall): AsyncIterable<unknown>

  /**
   * Renews many grants in one round trip; outcomes are in the order of the grants. An outcome that is unknown is given
   * as the error with which `renew` would have rejected. Rejects when all outcomes are unknown.
   */
  renewMany?(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]>

  /**
   * Checks whether the store keeps the conditions of leases: conditional writes, fresh reads, the configuration of the server,
   * permissions. Sends a handful of requests, and touches no lease. `leasehold doctor` prints the findings. Rejects if the
   * store cannot be reached or rejects the credentials; a check that the user may not make is `unknown`.
   */
  probe?(call: StoreCall): Promise<readonly StoreFinding[]>

  /** Ends connections, watches and timers. Operations afterwards reject with a `LeaseUnavailableError`. */
  close(): Promise<void>
}
