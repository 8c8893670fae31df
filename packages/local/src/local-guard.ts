import { checkLeaseName, Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
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
 * action of a holder that has lost its lease and does not know it. A resource is any text of up to 1,024 bytes.
 *
 * Actions of all resources of a folder exclude each other, across processes and threads, and block the calling thread:
 * keep them short. A process that is stopped (SIGSTOP, a debugger) within an action holds up the others. An action may
 * use guards of the same folder.
 */
export class LocalGuard implements FencingGuard {
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
   * Runs the synchronous `action` and returns its result. Throws a `LeaseLostError`, and does not run it, if an action with
   * a larger token has run for the resource. No action with a smaller token runs at the same time or later.
   */
  transact<T>(resource: string, fencingToken: bigint | string, action: () => T, options?: GuardOptions): T {
    const fence = new Fence('local', resource, fencingToken, options)
    checkLeaseName(resource)
    // Creates the folder again if it was deleted.
    this.#tokens.refresh()
    return this.#gate.hold(() => {
      this.#see(fence)
      return fence.run(action)
    })
  }

  /** Calls afterwards throw a `LeaseUnavailableError`. */
  async close(): Promise<void> {
    this.#tokens.close()
  }

  /** Records the token, or throws if a larger one is recorded. */
  #see(fence: Fence): void {
    const { resource, token } = fence
    for (;;) {
      this.#tokens.refresh()
      const seen = BigInt(this.#tokens.get(resource) ?? -1n)
      fence.check(seen)
      if (seen === token) return
      const { failure } = this.#tokens.attempt([{ key: resource, change: String(token) }])
      if (failure !== undefined) throw failure
    }
  }
}

/** A token that is not larger than the one before changes nothing. */
const tokens: RegisterKind<string, string> = {
  apply: (token = '-1', change) => (BigInt(change) > BigInt(token) ? change : token),
  whole: (token) => token,
}
