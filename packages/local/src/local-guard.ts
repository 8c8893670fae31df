import { checkFencingToken, checkLeaseName, LeaseConfigurationError, LeaseLostError } from '@leasehold/core'
import { FileLock } from './file-lock.js'
import { LeaseFolder, type StatFileSystem } from './lease-folder.js'
import { RegisterLog } from './register-log.js'
import type { RegisterKind } from './register-table.js'

const FILE = 'guard.mdb'
const GATE = 'guard.mdb-gate'

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
 * Actions of all resources of a folder exclude each other, across processes and threads, and block the calling thread:
 * keep them short. A process that is stopped (SIGSTOP, a debugger) within an action holds up the others. An action may
 * use guards of the same folder itself.
 */
export class LocalGuard {
  /** The largest token that was seen of each resource. */
  readonly #tokens: RegisterLog<string, string>
  readonly #gate: FileLock

  /** Throws what `LocalLeaseStore` throws for a folder that does not do. */
  constructor(options: LocalGuardOptions) {
    const folder = new LeaseFolder(options)
    // A token is on the disk before its action runs: it must not be forgotten by a power failure.
    this.#tokens = new RegisterLog({ folder, file: FILE, durable: true, kind: tokens })
    this.#gate = new FileLock(folder, GATE)
  }

  /**
   * Runs the synchronous `action`, and returns what it returns, unless a larger token was seen for the resource: then
   * throws a `LeaseLostError` and does not run it. No action with a smaller token runs at the same time or later.
   */
  run<T>(resource: string, fencingToken: bigint, action: () => T): T {
    checkLeaseName(resource)
    checkFencingToken(fencingToken, { leaseName: resource, store: 'local' })
    // Makes the folder anew where it was deleted.
    this.#tokens.refresh()
    return this.#gate.hold(() => {
      this.#see(resource, fencingToken)
      return runSynchronous(action)
    })
  }

  /** Calls afterwards throw a `LeaseUnavailableError`. */
  async close(): Promise<void> {
    this.#tokens.close()
    this.#gate.close()
  }

  /** Remembers the token, or throws where a larger one was seen. */
  #see(resource: string, fencingToken: bigint): void {
    for (;;) {
      this.#tokens.refresh()
      const seen = BigInt(this.#tokens.get(resource) ?? -1n)
      if (seen === fencingToken) return
      if (seen > fencingToken) {
        throw new LeaseLostError(
          `the fencing token ${fencingToken} for '${resource}' is behind ${seen}: another holds the lease now`,
          { leaseName: resource, store: 'local', reason: 'taken' },
        )
      }
      const { failure } = this.#tokens.attempt([{ key: resource, change: String(fencingToken) }])
      if (failure !== undefined) throw failure
    }
  }
}

/** A token that is not larger than the one before changes nothing. */
const tokens: RegisterKind<string, string> = {
  apply: (token = '-1', change) => (BigInt(change) > BigInt(token) ? change : token),
  whole: (token) => token,
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
