import type { StoreHeld } from '@leasehold/core'

/** `exclusive`: held alone. `shared`: held together with other shared locks of the same name. */
export type LockMode = 'exclusive' | 'shared'

/** The options of `LockManager.request`: those of the Web Locks API. */
export interface LockOptions {
  /** `exclusive` unless given. */
  readonly mode?: LockMode | undefined
  /** Calls the callback with `null` at once if the lock is not available now. `false` unless given. */
  readonly ifAvailable?: boolean | undefined
  /** Takes the lock from its holders, and before all that wait. For `exclusive` only. `false` unless given. */
  readonly steal?: boolean | undefined
  /** Cancels the request while it waits; never a lock that was granted. */
  readonly signal?: AbortSignal | undefined
}

/** A lock that is held, as its callback gets it: that of the Web Locks API, and what a lease adds to it. */
export interface Lock extends StoreHeld {
  readonly name: string
  readonly mode: LockMode
  /** Aborted when the lock is stolen or lost, and by `stop()`: end the work. */
  readonly signal: AbortSignal
  /**
   * For writes: the resource has to reject a smaller one than it has seen. That of an exclusive lock is larger than those of
   * all locks of the name before it, and that of a shared lock larger than those of the exclusive locks before it. Shared
   * locks that are held at the same time may have the same, or come in any order.
   */
  readonly fencingToken: bigint
}

/** A lock or a request, in the result of `LockManager.query`. */
export interface LockInfo {
  readonly name: string
  readonly mode: LockMode
  /** The `owner` of its lock manager. */
  readonly clientId: string
}

/** The result of `LockManager.query`. */
export interface LockManagerSnapshot {
  /** The locks that are held, by all machines. */
  readonly held: LockInfo[]
  /** The requests that wait: those of this lock manager in their order, and those of others that the store shows. */
  readonly pending: LockInfo[]
}
