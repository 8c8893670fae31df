import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseError } from '../errors/lease-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { checkLeaseName } from '../lease-name.js'
import { checkMetadata } from '../metadata.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
  StoreLimits,
} from '../store/lease-store.js'
import { type Decision, LifeCycle } from '../store/life-cycle/life-cycle.js'
import { listRecords } from '../store/life-cycle/list-records.js'
import { isLocked, type StoredLease, toLeaseRecord } from '../store/life-cycle/stored-lease.js'
import { TurnWatches } from '../store/life-cycle/turn-watches.js'
import { WaitQueue } from '../store/life-cycle/wait-queue.js'
import type { TurnState } from '../store/life-cycle/watched-name.js'
import type { StoreCall } from '../store/store-call.js'
import { systemClock } from '../system-clock.js'
import { accessRefusal, type CellAccess } from './cell-access.js'

/** The longest period after which a lease can be broken, in milliseconds: that of a Lease Blob. */
const LONGEST_BREAK = 60_000

/** An acquisition in memory: without a grant id the store creates one, and the request takes no place in the queue. */
export type MemoryAcquireRequest = Omit<AcquireRequest, 'grantId'> & { readonly grantId?: string }

export interface MemoryLeaseStoreOptions {
  /** Decides on expiry. The system's clock unless given. */
  readonly clock?: Clock
}

/**
 * Leases among the parts of one process, with the whole life cycle of Azure's Lease Blob (its reference: "Lease Blob",
 * service version 2012-02-12 and later). Every operation takes effect at once, before its promise is returned, so its
 * outcome is never unknown. The store finds out about expiry when it reads a record, by its own clock.
 *
 * A released record is kept, because the fencing token lives in it; {@link MemoryLeaseStore.delete} removes it.
 */
export class MemoryLeaseStore implements LeaseStore {
  readonly kind = 'memory'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: Number.MAX_SAFE_INTEGER, infinite: true, ordered: true }
  readonly #clock: Clock
  readonly #leases = new Map<string, StoredLease>()
  /** Only of names with places. */
  readonly #queues = new Map<string, WaitQueue>()
  readonly #watches: TurnWatches
  readonly #lifeCycle = new LifeCycle({
    store: this.kind,
    uncertainty: 0,
    tokenAfter: (last) => (last ?? this.#deletedToken) + 1n,
  })
  /** The largest token of all deleted names: a name without a record continues from it. */
  #deletedToken = 0n
  readonly #closing = new AbortController()

  constructor({ clock = systemClock }: MemoryLeaseStoreOptions = {}) {
    this.#clock = clock
    this.#watches = new TurnWatches({ clock, look: (name) => this.#turnOf(name), read: (name) => this.#read(name) })
  }

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Rejects with a `LeaseConfigurationError` if the ttl is not within the limits, with a `LeaseNameError` if the name is
   * invalid. A grant id whose lease is in force is granted again, with the same fencing token.
   */
  async acquire(request: MemoryAcquireRequest, call?: StoreCall): Promise<AcquireOutcome> {
    this.#checkUsable(call)
    const { name, ttl, metadata } = request
    this.#checkTtl(name, ttl)
    const lease = this.#leases.get(name)
    // The name of a record was checked when the record was created.
    if (lease === undefined) checkLeaseName(name)
    if (metadata !== undefined) this.#checkMetadata(name, metadata)
    const full = hasGrantId(request) ? request : { ...request, grantId: randomUUID(), queue: false }
    return this.#commit(name, this.#lifeCycle.acquire(full, lease, this.#queueOf(name), this.#clock.now()))
  }

  /** Renews for the recorded ttl: to change it, acquire again with the same grant id. */
  async renew(grant: Grant, call?: StoreCall): Promise<RenewOutcome> {
    this.#checkUsable(call)
    return this.#renew(grant, this.#clock.now())
  }

  async renewMany(grants: readonly Grant[], call?: StoreCall): Promise<readonly RenewOutcome[]> {
    this.#checkUsable(call)
    const now = this.#clock.now()
    return grants.map((grant) => this.#renew(grant, now))
  }

  async update(grant: Grant, metadata: Metadata, call?: StoreCall): Promise<RenewOutcome> {
    this.#checkUsable(call)
    this.#checkMetadata(grant.name, metadata)
    return this.#renew(grant, this.#clock.now(), metadata)
  }

  /** Also after the grant has expired or was broken, as long as there is no later grant. */
  async release(grant: Grant, call?: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checkUsable(call)
    const { name } = grant
    if (metadata !== undefined) this.#checkMetadata(name, metadata)
    return this.#commit(name, this.#lifeCycle.release(grant, this.#leases.get(name), this.#clock.now(), metadata))
  }

  async read(name: string, call?: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checkUsable(call)
    return this.#read(name)
  }

  /** In the order in which the names were first used. */
  list(prefix: string, call?: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    const check = (): void => this.#checkUsable(call)
    return listRecords({ check, names: () => this.#leases.keys(), read: (name) => this.#read(name) }, prefix)
  }

  /** Repeated with the same new grant id, it is granted again with the same fencing token. */
  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    call?: StoreCall,
  ): Promise<AcquireOutcome> {
    this.#checkUsable(call)
    const { name } = grant
    const lease = this.#leases.get(name)
    return this.#commit(name, this.#lifeCycle.change(grant, to, lease, this.#queueOf(name), this.#clock.now()))
  }

  /**
   * The period is at most 60,000 ms, else it rejects with a `LeaseConfigurationError`. Breaking again can only shorten
   * it. The reason is kept in the metadata, as `breakReason`, until the next grant.
   */
  async break(name: string, options: BreakOptions = {}, call?: StoreCall): Promise<{ readonly remaining: number }> {
    this.#checkUsable(call)
    const { period = 0 } = options
    // Written so that NaN does not pass.
    if (!(period >= 0 && period <= LONGEST_BREAK)) {
      const message = `the break period must be 0 to ${LONGEST_BREAK} ms, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    return this.#commit(name, this.#lifeCycle.break(name, options, this.#leases.get(name), this.#clock.now()))
  }

  async withdraw(name: string, grantId: string, call?: StoreCall): Promise<void> {
    this.#checkUsable(call)
    if (this.#queueOf(name) !== undefined) this.#commit(name, { outcome: undefined, leave: [grantId] })
  }

  /**
   * The watch begins with the iteration. When the name becomes free, the first waiter in the queue is notified, and
   * watches without a grant id; without a queue, all watches.
   */
  watch(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined> {
    return this.#watches.watch(name, call, grantId, () => {
      this.#checkUsable(undefined)
      checkLeaseName(name)
    })
  }

  /**
   * Removes the record, as deleting the blob does: the next heartbeat of the holder is refused, and waiters
   * keep their places. Resolves with whether there was a record. The fencing tokens of the name still grow: the store
   * keeps the largest token of all deleted names, and a name without a record continues from it.
   */
  async delete(name: string, call?: StoreCall): Promise<boolean> {
    this.#checkUsable(call)
    const lease = this.#leases.get(name)
    if (lease === undefined) return false
    if (lease.fencingToken > this.#deletedToken) this.#deletedToken = lease.fencingToken
    this.#leases.delete(name)
    this.#watches.update(name)
    return true
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#watches.close()
    this.#leases.clear()
    this.#queues.clear()
  }

  /**
   * For a resource of this process that checks leases as a blob does: returns the fencing token of the access,
   * `undefined` for an access without a lease id. Throws the error of {@link accessRefusal}. A write without a lease id
   * ends an expired or broken lease, so that it cannot be renewed any more.
   *
   * @internal
   */
  admit(name: string, access: CellAccess, leaseId: string | undefined): bigint | undefined {
    this.#checkUsable(undefined)
    const lease = this.#leases.get(name)
    const refusal = accessRefusal(name, lease, this.#clock.now(), access, leaseId)
    if (refusal !== undefined) throw refusal
    if (leaseId !== undefined) return lease?.fencingToken
    if (lease !== undefined && access === 'write') {
      this.#leases.set(name, { ...lease, state: 'available', lockedUntil: Number.NEGATIVE_INFINITY })
    }
    return undefined
  }

  #renew(grant: Grant, now: number, metadata?: Metadata): RenewOutcome {
    const { name } = grant
    return this.#commit(name, this.#lifeCycle.renew(grant, this.#leases.get(name), now, metadata))
  }

  /** Brings a decision into force. */
  #commit<T>(name: string, { outcome, next, leave = [], keep }: Decision<T>): T {
    if (next !== undefined) this.#leases.set(name, next)
    if (leave.length > 0 || keep !== undefined) {
      const queue = this.#queues.get(name) ?? new WaitQueue()
      for (const grantId of leave) queue.remove(grantId)
      if (keep !== undefined) queue.keep(keep)
      if (queue.size > 0) this.#queues.set(name, queue)
      else this.#queues.delete(name)
    }
    if (this.#watches.size > 0) this.#watches.update(name)
    return outcome
  }

  /** Most stores have no waiters, and then no name needs to be looked up. */
  #queueOf(name: string): WaitQueue | undefined {
    return this.#queues.size === 0 ? undefined : this.#queues.get(name)
  }

  #read(name: string): LeaseRecord | undefined {
    const lease = this.#leases.get(name)
    return lease === undefined ? undefined : toLeaseRecord(name, lease, this.#clock.now())
  }

  #turnOf(name: string): TurnState {
    const lease = this.#leases.get(name)
    const now = this.#clock.now()
    const fencingToken = lease?.fencingToken
    if (lease !== undefined && isLocked(lease, now)) return { lockedFor: lease.lockedUntil - now, fencingToken }
    const { first } = this.#lifeCycle.turn(this.#queueOf(name), now)
    if (first === undefined) return { lockedFor: 0, fencingToken }
    return { lockedFor: 0, fencingToken, first: { grantId: first.grantId, keptFor: first.keptUntil - now } }
  }

  #checkTtl(name: string, ttl: number): void {
    const { minTtl, maxTtl } = this.limits
    // Written so that NaN does not pass.
    if ((ttl >= minTtl && ttl <= maxTtl) || ttl === Number.POSITIVE_INFINITY) return
    const message = `the ttl must be ${minTtl} to ${maxTtl} ms or Infinity, not ${ttl}`
    throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
  }

  #checkMetadata(name: string, metadata: Metadata): void {
    checkMetadata(metadata, { leaseName: name, store: this.kind })
  }

  #checkUsable(call: StoreCall | undefined): void {
    if (this.#closing.signal.aborted) {
      throw new LeaseUnavailableError('the store is closed: create a new one', { store: this.kind })
    }
    if (call?.aborted !== true) return
    const { reason } = call.signal
    if (reason instanceof LeaseError) throw reason
    throw new LeaseUnavailableError('the attempt was aborted before it began', { store: this.kind, cause: reason })
  }
}

function hasGrantId(request: MemoryAcquireRequest): request is AcquireRequest {
  return request.grantId !== undefined
}
