import { checkFencingToken, checkLeaseName, LeaseConfigurationError, LeaseLostError } from '@leasehold/core'
import { LeaseFolder, type StatFileSystem } from './lease-folder.js'
import { SharedDatabase } from './shared-database.js'

const FILE = 'guard.mdb'

export interface LocalGuardOptions {
  /** A folder on a local disk, the same for all processes; it may be that of the leases. */
  readonly folder: string
  /** The permissions of what is made; `0o700` unless given. */
  readonly mode?: number | undefined
  /** For tests: what tells the kind of file system. */
  readonly statfs?: StatFileSystem | undefined
}

/**
 * Checks fencing tokens for resources that cannot do so themselves, such as files of this machine: an action of a holder
 * that has lost its lease without knowing is not run.
 *
 * Actions of all resources of a folder exclude each other, across processes, and block the calling thread: keep them
 * short. A process that is stopped (SIGSTOP, a debugger) within an action holds up the others.
 */
export class LocalGuard {
  readonly #tokens: SharedDatabase

  /** Throws what `LocalLeaseStore` throws for a folder that does not do. */
  constructor(options: LocalGuardOptions) {
    // A token is on the disk before its action runs: it must not be forgotten by a power failure.
    this.#tokens = new SharedDatabase({ folder: new LeaseFolder(options), file: FILE, durable: true })
  }

  /**
   * Runs the synchronous `action`, and returns what it returns, unless a larger token was seen for the resource: then
   * throws a `LeaseLostError` and does not run it. No action with a smaller token runs at the same time or later.
   */
  run<T>(resource: string, fencingToken: bigint, action: () => T): T {
    checkLeaseName(resource)
    checkFencingToken(fencingToken, { leaseName: resource, store: 'local' })
    const key = Buffer.from(resource)
    // Recorded before it acts, and in a transaction of its own: if the process dies within the action, what it has done
    // by then stands, and so must the token.
    if (this.#transact(() => this.#seen(key)) < fencingToken) this.#transact(() => this.#record(key, fencingToken))
    return this.#transact(() => {
      const seen = this.#seen(key)
      if (seen <= fencingToken) return runSynchronous(action)
      throw new LeaseLostError(
        `the fencing token ${fencingToken} for '${resource}' is behind ${seen}: another holds the lease now`,
        { leaseName: resource, store: 'local', reason: 'taken' },
      )
    })
  }

  /** Calls afterwards throw a `LeaseUnavailableError`. */
  async close(): Promise<void> {
    this.#tokens.close()
  }

  #seen(key: Uint8Array): bigint {
    const token = this.#tokens.get(key)
    return token === undefined ? -1n : BigInt(token)
  }

  #record(key: Uint8Array, fencingToken: bigint): void {
    // Another may have recorded a larger one since we looked.
    if (this.#seen(key) < fencingToken) this.#tokens.put(key, String(fencingToken))
  }

  /** What `work` throws is passed on as it is: it must not be taken for a failure of the database. */
  #transact<T>(work: () => T): T {
    return this.#tokens.write(() => attempt(work))()
  }
}

function attempt<T>(work: () => T): () => T {
  try {
    const result = work()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function runSynchronous<T>(action: () => T): T {
  const result = action()
  if (typeof result === 'object' && result !== null && 'then' in result) {
    throw new LeaseConfigurationError(
      'the action of a guard must be synchronous: it is not guarded when it goes on later',
    )
  }
  return result
}
