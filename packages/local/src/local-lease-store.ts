import { type Clock, type Grant, systemClock } from '@leasehold/core'
import { type Decision, isLockedAt, LifeCycleStore, type NameState, type TurnState } from '@leasehold/core/life-cycle'
import { AbortableCall, type RenewOutcome, type StoreCall } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { bootOf } from './boot.js'
import { LeaseDatabase } from './lease-database.js'
import { LeaseFolder, type LeaseFolderOptions } from './lease-folder.js'
import { isNotified, LeaseOperations } from './lease-operations.js'
import { OperationBatch } from './operation-batch.js'
import { thisWaiter } from './waiter-process.js'
import { WakeFiles } from './wake-files.js'

const YEAR = 365 * 24 * 3_600_000
const LONGEST_TTL = 10 * YEAR

/**
 * The longest time between two looks at a watched name, in milliseconds. It finds changes without a notification, such
 * as the death of the process whose turn it was.
 */
const LONGEST_SLEEP = 1_000

/**
 * The first token that is too large for a raise. Tokens have 63 bits; the rest is for later grants, and for a million starts of
 * the machine.
 */
const TOKEN_LIMIT = 2n ** 63n - 2n ** 56n

export interface LocalLeaseStoreOptions extends LeaseFolderOptions {
  /**
   * For tests: the clock. It is then also the time since boot, so stores of one folder must share it. The machine's clock
   * unless given.
   */
  readonly clock?: Clock | undefined
  /** For tests: identifies this start of the machine. The machine's own id unless given. */
  readonly bootId?: string | undefined
}

/**
 * Leases for the processes of one machine, kept in a folder. No server. A committed change survives SIGKILL. After a
 * restart of the machine all leases are over, and fencing tokens still grow.
 *
 * Each operation runs in the calling thread, takes microseconds, and waits for no other thread or process: a process that
 * is stopped, killed or terminated at any instant does not hold up the others.
 */
export class LocalLeaseStore extends LifeCycleStore {
  readonly #database: LeaseDatabase
  readonly #operations: LeaseOperations
  readonly #batch: OperationBatch
  readonly #wakeFiles: WakeFiles
  /** Whether a watch has taken in the changes of other processes in this turn of the event loop. */
  #isFresh = false

  /**
   * Opens the folder. Throws a `LeaseConfigurationError` if the folder can never be used (on a network, with a foreign or
   * newer database), a `LeaseUnauthorisedError` if this user may not write to it, a `LeaseUnavailableError` if the disk is
   * full or the database fails.
   */
  constructor(options: LocalLeaseStoreOptions) {
    const names = { folder: true, mode: true, statfs: true, clock: true, bootId: true } as const
    checkOptionNames<LocalLeaseStoreOptions>('LocalLeaseStore', options, names, { store: 'local' })
    const folder = new LeaseFolder(options)
    const boot = bootOf(options, folder.path)
    folder.checkSpace(boot.id)
    const database = new LeaseDatabase(folder, boot)
    const operations = new LeaseOperations(database, thisWaiter(), boot)
    super({
      ...operations.rules,
      limits: { minTtl: 1, maxTtl: LONGEST_TTL, infinite: true, ordered: true },
      clock: options.clock ?? systemClock,
      longestSleep: LONGEST_SLEEP,
      // A pending watch keeps the process alive.
      onWatched: (name, isWatched) => (isWatched ? this.#wakeFiles.listen(name) : this.#wakeFiles.unlisten(name)),
    })
    this.#database = database
    this.#operations = operations
    this.#wakeFiles = new WakeFiles(folder, (name) => this.watches.update(name))
    this.#batch = new OperationBatch(database.entries, (freed) => {
      this.#wakeFiles.notify(freed)
      for (const name of freed) this.watches.update(name)
    })
  }

  /**
   * A raised token outlives the process and a restart of the machine. The tokens of all names in the folder are then larger after
   * a restart. A token that is ahead of the wall clock is lost with the folder, or when an older copy is put back.
   */
  override async raiseToken(grant: Grant, token: bigint, call?: StoreCall): Promise<RenewOutcome> {
    this.checks.token(grant, token, call, TOKEN_LIMIT)
    return await super.raiseToken(grant, token, call)
  }

  /** Held leases stay in the folder until they expire. */
  override async close(): Promise<void> {
    await super.close()
    this.#batch.close()
    this.#wakeFiles.close()
    this.#database.entries.close()
  }

  protected override refresh(): void {
    this.#database.entries.refresh()
  }

  protected override names(): Iterable<string> {
    return this.#database.entries.keys()
  }

  protected override stateOf(name: string): NameState {
    return this.#operations.stateOf(name)
  }

  protected override carryOut<T>(
    name: string,
    call: StoreCall = new AbortableCall(),
    decide: (state: NameState) => Decision<T>,
  ): Promise<T> {
    return this.#batch.add(name, call, () => this.#operations.propose(name, decide))
  }

  protected override turnOf(name: string): TurnState {
    try {
      this.#refreshOnce()
    } catch {
      // The waiter finds the error when it asks again.
      return { lockedFor: LONGEST_SLEEP }
    }
    const { lease, now, ...entry } = this.#operations.stateOf(name)
    if (lease !== undefined && isLockedAt(lease, now) && !isNotified(entry)) {
      // If it fails, the watch looks a little later by itself.
      this.#batch.add(name, new AbortableCall(), () => this.#operations.watch(name)).catch(() => {})
    }
    return super.turnOf(name)
  }

  /** Refreshes once a turn, in which thousands of watches may look. A later change notifies them, or they look again. */
  #refreshOnce(): void {
    if (this.#isFresh) return
    this.refresh()
    this.#isFresh = true
    setImmediate(() => {
      this.#isFresh = false
    })
  }
}
