import { LeaseLostError } from '../errors/lease-lost-error.js'
import { checkFencingToken } from '../store/fence.js'
import type { MemoryLeaseStore } from './memory-lease-store.js'

/** Under which lease a {@link GuardedCell} is used. */
export interface CellOptions {
  /** The grant id of the lease that whoever reads or writes believes to hold. */
  readonly leaseId?: string
}

/**
 * A value in memory that checks leases itself, as a blob does: what makes a lease exclusive even where its holder is
 * wrong about holding it. The check and the write are one step, and everything takes effect at once.
 *
 * What the blob answers with 409 (another lease is in force) is a `LeaseConflictError`, what it answers with 412 (the
 * access is not under the lease that it has to be under) a `LeaseLostError`; its `reason` is what a heartbeat would
 * have been told. After either nothing has changed. With a closed store it is a `LeaseUnavailableError`.
 */
export class GuardedCell<T> {
  readonly #store: MemoryLeaseStore
  readonly #name: string
  #value: T
  #largestToken = 0n

  /** `name` is the lease name under whose lease the cell stands, in the given store. */
  constructor(store: MemoryLeaseStore, name: string, initial: T) {
    this.#store = store
    this.#name = name
    this.#value = initial
  }

  /** With a lease id only while that lease is in force; without one always. */
  read({ leaseId }: CellOptions = {}): T {
    this.#store.admit(this.#name, 'read', leaseId)
    return this.#value
  }

  /**
   * With a lease id only while that lease is in force; without one only while none is. The latter ends a lease that
   * has expired or was broken for good: it cannot be renewed any more.
   */
  write(value: T, { leaseId }: CellOptions = {}): void {
    const token = this.#store.admit(this.#name, 'write', leaseId)
    if (token !== undefined && token > this.#largestToken) this.#largestToken = token
    this.#value = value
  }

  /**
   * The guard of a resource that knows no leases, only fencing tokens: refused, with a `LeaseLostError`, when a write
   * under a larger token has been seen. A holder whose lease is over can write until its successor has. Throws a
   * `LeaseConfigurationError` for a token that is not a bigint of 0 or more.
   */
  writeFenced(value: T, fencingToken: bigint): void {
    checkFencingToken(fencingToken, { leaseName: this.#name, store: 'memory' })
    if (fencingToken < this.#largestToken) {
      const message = `write of '${this.#name}' is refused: token ${fencingToken} is older than ${this.#largestToken}`
      throw new LeaseLostError(message, { leaseName: this.#name, store: 'memory', reason: 'taken' })
    }
    this.#largestToken = fencingToken
    this.#value = value
  }
}
