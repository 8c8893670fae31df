import { checkFence, checkFencingToken, checkLeaseName, checkOptionNames } from '@leasehold/core/store'
import { misconfigured } from './failure-of.js'
import { FileLock } from './file-lock.js'
import { LeaseFolder, type LeaseFolderOptions } from './lease-folder.js'
import { RegisterLog } from './register-log.js'
import type { RegisterKind } from './register-table.js'

const FILE = 'guard.mdb'
const GATE = 'guard.mdb-gate'

/** The folder may be that of the leases. */
export type LocalGuardOptions = LeaseFolderOptions

/**
 * The fencing guard of resources that cannot check tokens themselves, such as files of this machine. It does not run the
 * action of a holder that has lost its lease and does not know it.
 *
 * Actions of all resources of a folder exclude each other, across processes and threads, and block the calling thread:
 * keep them short. A process that is stopped (SIGSTOP, a debugger) within an action holds up the others. An action may
 * use guards of the same folder.
 */
export class LocalGuard {
  /** The largest token of each resource. */
  readonly #tokens: RegisterLog<string, string>
  readonly #gate: FileLock

  /**
   * Throws a `LeaseConfigurationError` if this platform has no lock of files, such as Alpine Linux, and the errors of
   * `LocalLeaseStore` for a folder that cannot be used.
   */
  constructor(options: LocalGuardOptions) {
    const names = { folder: true, mode: true, statfs: true } as const
    checkOptionNames<LocalGuardOptions>('LocalGuard', options, names, { store: 'local' })
    const folder = new LeaseFolder(options)
    this.#gate = new FileLock(folder, GATE)
    // A token is on the disk before its action runs: a power failure must not undo it.
    this.#tokens = new RegisterLog({ folder, file: FILE, durable: true, kind: tokens })
  }

  /**
   * Runs the synchronous `action` and returns its result. Throws a `LeaseLostError` and does not run it after an action
   * for the resource with a larger token. No action with a smaller token runs at the same time or later.
   */
  run<T>(resource: string, fencingToken: bigint | string, action: () => T): T {
    checkLeaseName(resource)
    const token = checkFencingToken(fencingToken, { leaseName: resource, store: 'local' })
    // Creates the folder again if it was deleted.
    this.#tokens.refresh()
    return this.#gate.hold(() => {
      this.#see(resource, token)
      return runSynchronous(action)
    })
  }

  /** Calls afterwards throw a `LeaseUnavailableError`. */
  async close(): Promise<void> {
    this.#tokens.close()
  }

  /** Records the token, or throws if a larger one is recorded. */
  #see(resource: string, fencingToken: bigint): void {
    for (;;) {
      this.#tokens.refresh()
      const seen = BigInt(this.#tokens.get(resource) ?? -1n)
      checkFence(resource, fencingToken, seen, 'local')
      if (seen === fencingToken) return
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
    throw misconfigured('the action of a fencing guard must be synchronous: the part that runs later is not protected')
  }
  return result
}
