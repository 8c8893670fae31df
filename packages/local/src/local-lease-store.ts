import {
  type Clock,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import {
  AbortableCall,
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  listRecords,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
  type TurnState,
  TurnWatches,
} from '@leasehold/core/store'
import { bootOf } from './boot.js'
import { LeaseDatabase } from './lease-database.js'
import { LeaseFolder, type StatFileSystem } from './lease-folder.js'
import { LeaseOperations } from './lease-operations.js'
import { OperationBatch } from './operation-batch.js'
import { thisWaiter } from './waiter-process.js'
import { WakeFiles } from './wake-files.js'

const YEAR = 365 * 24 * 3_600_000
const LONGEST_TTL = 10 * YEAR
const LONGEST_GRANT_ID = 512

/**
 * The longest time between two looks at a watched name, in milliseconds. It finds changes without a notification, such
 * as the death of the process whose turn it was.
 */
const LONGEST_SLEEP = 1_000

export interface LocalLeaseStoreOptions {
  /** The folder of the leases, on a local disk, the same for all processes. It is created if it does not exist. */
  readonly folder: string
  /** The permissions of a folder that is created, and of its content; `0o700` unless given: this user only. */
  readonly mode?: number | undefined
  /**
   * For tests: the clock. It is then also the time since boot, so stores of one folder must share it. The machine's clock
   * unless given.
   */
  readonly clock?: Clock | undefined
  /** For tests: identifies this start of the machine. The machine's own id unless given. */
  readonly bootId?: string | undefined
  /** For tests: returns the kind of a file system. `fs.statfsSync` unless given. */
  readonly statfs?: StatFileSystem | undefined
}

/**
 * Leases for the processes of one machine, kept in a folder. No server. A committed change survives SIGKILL. After a
 * restart of the machine all leases are over, and fencing tokens still grow.
 *
 * Each operation runs in the calling thread, takes microseconds, and waits for no other thread or process: a process that
 * is stopped, killed or terminated at any instant does not hold up the others.
 */
export class LocalLeaseStore implements LeaseStore {
  readonly kind = 'local'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: LONGEST_TTL, infinite: true, ordered: true }
  readonly #database: LeaseDatabase
  readonly #operations: LeaseOperations
  readonly #batch: OperationBatch
  readonly #wakeFiles: WakeFiles
  readonly #watches: TurnWatches
  readonly #checks = new StoreChecks(this.kind, this.limits)

  /**
   * Opens the folder. Throws a `LeaseConfigurationError` if the folder can never be used (on a network, with a foreign or
   * newer database), a `LeaseUnauthorisedError` if this user may not write to it, a `LeaseUnavailableError` if the disk is
   * full or the database fails.
   */
  constructor(options: LocalLeaseStoreOptions) {
    const clock = options.clock ?? systemClock
    const folder = new LeaseFolder(options)
    const boot = bootOf(options, folder.path)
    folder.checkSpace(boot.id)
    this.#database = new LeaseDatabase(folder, boot)
    this.#operations = new LeaseOperations(this.#database, thisWaiter(), boot)
    this.#wakeFiles = new WakeFiles(folder, (name) => this.#watches.update(name))
    this.#batch = new OperationBatch(this.#database.entries, (freed) => {
      this.#wakeFiles.notify(freed)
      for (const name of freed) this.#watches.update(name)
    })
    this.#watches = new TurnWatches({
      clock,
      longestSleep: LONGEST_SLEEP,
      look: (name) => this.#turnOf(name),
      read: (name) => this.#operations.read(name),
      onWatched: (name, isWatched) => (isWatched ? this.#wakeFiles.listen(name) : this.#wakeFiles.unlisten(name)),
    })
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    checkGrantId(request.grantId)
    // The caller may change its metadata before the operation is decided.
    const own = request.metadata === undefined ? request : { ...request, metadata: { ...request.metadata } }
    return this.#batch.add(own.name, call, () => this.#operations.acquire(own))
  }

  /** Renews for the recorded ttl: to change it, acquire again with the same grant id. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return this.#batch.add(grant.name, call, () => this.#operations.renew(grant))
  }

  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly RenewOutcome[]> {
    return Promise.all(grants.map((grant) => this.renew(grant, call)))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    const own = { ...metadata }
    return this.#batch.add(grant.name, call, () => this.#operations.renew(grant, own))
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    const own = metadata && { ...metadata }
    return this.#batch.add(grant.name, call, () => this.#operations.release(grant, own))
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return this.#batch.add(name, call, () => ({ outcome: this.#operations.read(name) }))
  }

  /** A name whose lease is over is no longer listed once the file was written anew without it. */
  list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    const { entries } = this.#database
    return listRecords(
      {
        check: () => this.#checks.usable(call),
        refresh: () => entries.refresh(),
        names: () => entries.keys(),
        read: (name) => this.#operations.read(name),
      },
      prefix,
    )
  }

  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    call: StoreCall,
  ): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    checkGrantId(to.grantId)
    return this.#batch.add(grant.name, call, () => this.#operations.change(grant, to))
  }

  /** The reason is kept in the record's metadata, as `breakReason`. */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    this.#checks.break(name, options, call)
    return this.#batch.add(name, call, () => this.#operations.break(name, options))
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    this.#checks.name(name, call)
    checkGrantId(grantId)
    return this.#batch.add(name, call, () => this.#operations.withdraw(name, grantId))
  }

  /** The watch begins with the iteration. A pending watch keeps the process alive. */
  watch(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined> {
    return this.#watches.watch(name, call, grantId, () => this.#checks.name(name))
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  /** Held leases stay in the folder until they expire. */
  async close(): Promise<void> {
    if (!this.#checks.close()) return
    this.#batch.close()
    this.#watches.close()
    this.#wakeFiles.close()
    this.#database.entries.close()
  }

  #turnOf(name: string): TurnState {
    try {
      this.#database.entries.refresh()
    } catch {
      // The waiter finds the error when it asks again.
      return { lockedFor: LONGEST_SLEEP }
    }
    const turn = this.#operations.turnOf(name)
    if (!turn.isNotified) {
      // If it fails, the watch looks a little later by itself.
      this.#batch.add(name, new AbortableCall(), () => this.#operations.watch(name)).catch(() => {})
    }
    return turn
  }
}

function checkGrantId(grantId: unknown): void {
  if (typeof grantId === 'string' && grantId !== '' && Buffer.byteLength(grantId) <= LONGEST_GRANT_ID) return
  throw new LeaseConfigurationError(`grantId must be a string of 1 to ${LONGEST_GRANT_ID} bytes`, { store: 'local' })
}
