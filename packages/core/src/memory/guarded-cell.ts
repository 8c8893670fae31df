import { checkOptionNames } from '../option-names.js'
import { checkFence, checkFencingToken } from '../store/fence.js'
import type { MemoryLeaseStore } from './memory-lease-store.js'

/** The lease with which a {@link GuardedCell} is used. */
export interface CellOptions {
  /** The grant id of the lease that the caller believes to hold. */
  readonly leaseId?: string
}

/**
 * A value in memory that checks leases itself, as a blob does. The lease is then exclusive even if a holder does not
 * know that it has lost it. The check and the write are one step.
 *
 * Where the blob answers 409 (another lease is in force), methods throw a `LeaseConflictError`. Where it answers 412 (the
 * access needs a lease that the caller does not hold), they throw a `LeaseLostError`, with the `reason` for which a
 * heartbeat would be refused. Nothing has changed then. If the store is closed, they throw a `LeaseUnavailableError`.
 */
export class GuardedCell<T> {
  readonly #store: MemoryLeaseStore
  readonly #name: string
  #value: T
  #largestToken = 0n

  /** The lease with this name in the store protects the cell. */
  constructor(store: MemoryLeaseStore, name: string, initial: T) {
    this.#store = store
    this.#name = name
    this.#value = initial
  }

  /** With a lease id: only while that lease is in force. Without a lease id: always. */
  read(options: CellOptions = {}): T {
    this.#store.admit(this.#name, 'read', this.#leaseIdIn(options))
    return this.#value
  }

  /**
   * With a lease id: only while that lease is in force. Without a lease id: only while no lease is in force. A write
   * without a lease id ends an expired or broken lease for good: it cannot be renewed any more.
   */
  write(value: T, options: CellOptions = {}): void {
    const token = this.#store.admit(this.#name, 'write', this.#leaseIdIn(options))
    if (token !== undefined && token > this.#largestToken) this.#largestToken = token
    this.#value = value
  }

  /**
   * The fencing guard of a resource that does not know leases, only tokens: throws a `LeaseLostError` after a write with
   * a larger token. A holder whose lease is over can write until the next holder has written. Throws a
   * `LeaseConfigurationError` if the token is neither a bigint of 0 or more nor the text of its digits.
   */
  writeFenced(value: T, fencingToken: bigint | string): void {
    const token = checkFencingToken(fencingToken, { leaseName: this.#name, store: 'memory' })
    checkFence(this.#name, token, this.#largestToken, 'memory')
    this.#largestToken = token
    this.#value = value
  }

  /** A misspelled `leaseId` must not turn an access under a lease into one without. */
  #leaseIdIn(options: CellOptions): string | undefined {
    checkOptionNames<CellOptions>('GuardedCell', options, { leaseId: true }, { leaseName: this.#name, store: 'memory' })
    return options.leaseId
  }
}
