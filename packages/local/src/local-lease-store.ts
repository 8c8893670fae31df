import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Clock,
  checkLeaseName,
  checkMetadata,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import { bootOf } from './boot.js'
import { LeaseCycle } from './lease-cycle.js'
import { LeaseDatabase } from './lease-database.js'
import { LeaseFolder, type StatFileSystem } from './lease-folder.js'
import { closedError, OperationBatch } from './operation-batch.js'
import { TurnWatches } from './turn-watches.js'
import { WaitQueue } from './wait-queue.js'
import { thisWaiter } from './waiter-process.js'
import { bellOf, WakeBells } from './wake-bells.js'

const YEAR = 365 * 24 * 3_600_000
const LONGEST_TTL = 10 * YEAR
const LONGEST_GRANT_ID = 512

export interface LocalLeaseStoreOptions {
  /** Where the leases are kept: a folder on a local disk, the same for all processes; made where there is none. */
  readonly folder: string
  /** The permissions of a folder that is made, and of what is made in it; `0o700` unless given: this user only. */
  readonly mode?: number | undefined
  /**
   * For tests: time, which is then also taken as the time since boot, so that stores of one folder must share it. The
   * machine's unless given.
   */
  readonly clock?: Clock | undefined
  /** For tests: what tells one start of the machine from another. The machine's unless given. */
  readonly bootId?: string | undefined
  /** For tests: what tells the kind of file system. `fs.statfsSync` unless given. */
  readonly statfs?: StatFileSystem | undefined
}

/**
 * Leases for the processes of one machine, kept in a folder. No server. What is committed outlives SIGKILL; after a
 * restart of the machine all leases are over and fencing tokens go on growing.
 *
 * Each operation runs in the calling thread, takes microseconds, and waits for no other thread or process: one that is
 * stopped, killed or terminated at any instant holds up nobody.
 */
export class LocalLeaseStore implements LeaseStore {
  readonly kind = 'local'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: LONGEST_TTL, infinite: true, ordered: true }
  readonly #database: LeaseDatabase
  readonly #cycle: LeaseCycle
  readonly #batch: OperationBatch
  readonly #bells: WakeBells
  readonly #watches: TurnWatches
  readonly #ending = new AbortController()
  #closing: Promise<void> | undefined

  /**
   * Opens the folder. Throws a `LeaseConfigurationError` for a folder that can never do (on a network, with a foreign or
   * newer database), a `LeaseUnauthorisedError` where this user may not write to it, a `LeaseUnavailableError` where the
   * disk is full or the database fails.
   */
  constructor(options: LocalLeaseStoreOptions) {
    const clock = options.clock ?? systemClock
    const folder = new LeaseFolder(options)
    const boot = bootOf(options, folder.path)
    folder.checkSpace(boot.id)
    const database = new LeaseDatabase(folder, boot)
    const queue = new WaitQueue(thisWaiter())
    const cycle = new LeaseCycle(database, queue, boot)
    const bells = new WakeBells(folder)
    this.#database = database
    this.#cycle = cycle
    this.#bells = bells
    this.#batch = new OperationBatch(database.entries, (freed) => this.#wake(freed))
    this.#watches = new TurnWatches({
      clock,
      boot,
      cycle,
      queue,
      bells,
      refresh: () => database.entries.refresh(),
      ask: (name) => this.#ask(name),
    })
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    checkLeaseName(request.name)
    checkLeaseName(request.owner)
    checkGrantId(request.grantId)
    checkTtl(request.ttl)
    const { metadata } = request
    checkMetadata(metadata, { leaseName: request.name, store: this.kind })
    // What the caller changes later is not written.
    const own = metadata === undefined ? request : { ...request, metadata: { ...metadata } }
    return this.#batch.add(own.name, signal, () => this.#cycle.acquire(own))
  }

  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    checkTtl(grant.ttl)
    return this.#batch.add(grant.name, signal, () => this.#cycle.renew(grant))
  }

  async renewMany(grants: readonly Grant[], signal: AbortSignal): Promise<readonly RenewOutcome[]> {
    for (const { ttl } of grants) checkTtl(ttl)
    return Promise.all(grants.map((grant) => this.#batch.add(grant.name, signal, () => this.#cycle.renew(grant))))
  }

  async release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    return this.#batch.add(grant.name, signal, () => this.#cycle.release(grant))
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    checkLeaseName(name)
    return this.#batch.add(name, signal, () => this.#cycle.read(name))
  }

  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    checkLeaseName(to.owner)
    checkGrantId(to.grantId)
    checkTtl(grant.ttl)
    return this.#batch.add(grant.name, signal, () => this.#cycle.change(grant, to))
  }

  /** The reason is kept in the record's metadata, as `breakReason`. */
  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ readonly remaining: number }> {
    checkLeaseName(name)
    const { period = 0 } = options
    if (!(period >= 0)) {
      throw new LeaseConfigurationError(`period must be 0 or a positive number of milliseconds, not ${String(period)}`)
    }
    return this.#batch.add(name, signal, () => this.#cycle.break(name, options))
  }

  async withdraw(name: string, grantId: string, signal: AbortSignal): Promise<void> {
    checkLeaseName(name)
    checkGrantId(grantId)
    return this.#batch.add(name, signal, () => this.#cycle.withdraw(name, grantId))
  }

  /** A pending watch keeps the process alive: someone awaits a turn. */
  async *watch(
    name: string,
    signal: AbortSignal,
    grantId?: string,
  ): AsyncGenerator<LeaseRecord | undefined, void, undefined> {
    checkLeaseName(name)
    if (this.#closing !== undefined) throw closedError()
    if (signal.aborted) return
    const watch = this.#watches.add(name, signal, grantId)
    try {
      while (await watch.next()) yield this.#cycle.read(name).outcome
    } finally {
      watch.end()
    }
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#ending.signal
  }

  /** Held leases stay in the folder, and expire there. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#ending.abort()
    this.#batch.close()
    this.#watches.close()
    this.#bells.close()
    this.#database.entries.close()
  }

  #wake(freed: ReadonlySet<string>): void {
    this.#bells.ring(new Set([...freed].map(bellOf)))
    this.#watches.freed(freed)
  }

  #ask(name: string): void {
    // Without it the watch only looks a little later.
    this.#batch.add(name, new AbortController().signal, () => this.#cycle.watch(name)).catch(() => {})
  }
}

function checkGrantId(grantId: unknown): void {
  if (typeof grantId === 'string' && grantId !== '' && Buffer.byteLength(grantId) <= LONGEST_GRANT_ID) return
  throw new LeaseConfigurationError(`grantId must be a string of 1 to ${LONGEST_GRANT_ID} bytes`, { store: 'local' })
}

function checkTtl(ttl: unknown): void {
  if (ttl === Number.POSITIVE_INFINITY) return
  if (typeof ttl === 'number' && ttl >= 1 && ttl <= LONGEST_TTL) return
  throw new LeaseConfigurationError(`ttl must be 1 to ${LONGEST_TTL} milliseconds, or Infinity, not ${String(ttl)}`, {
    store: 'local',
  })
}
