import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { LeaseError } from '../errors/lease-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
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
import type { StoreCall } from '../store/store-call.js'
import { systemClock } from '../system-clock.js'
import { accessRefusal, type CellAccess } from './cell-access.js'
import { endOf, isLocked, type MemoryRecord, recordAt, settle } from './memory-record.js'
import { nameFailure, periodFailure, ttlFailure } from './request-checks.js'
import { WaitingRooms } from './waiting-rooms.js'

/** A queued request for a lease without expiry must be repeated within this. Milliseconds. */
const LONGEST_UNREPEATED = 60_000

/** How many records are looked at in one turn of the event loop. */
const LISTED_AT_ONCE = 1_000

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })
const RELEASED: ReleaseOutcome = Object.freeze({ released: true })
const NO_METADATA: Metadata = Object.freeze({})

/** An acquisition in memory: without a grant id the store makes one, and the request cannot wait in the queue. */
export type MemoryAcquireRequest = Omit<AcquireRequest, 'grantId'> & { readonly grantId?: string }

export interface MemoryLeaseStoreOptions {
  /** Decides on expiry. The system's clock unless given. */
  readonly clock?: Clock
}

/**
 * Leases among the parts of one process, with the whole life cycle of Azure's Lease Blob (its reference: "Lease Blob",
 * service version 2012-02-12 and later). Every operation takes effect at once, before its promise is returned, so that
 * its outcome is never unknown. Expiry is by the store's clock, looked at when a record is.
 *
 * A record is kept when it is released, for the fencing token lives in it; {@link MemoryLeaseStore.delete} forgets it.
 */
export class MemoryLeaseStore implements LeaseStore {
  readonly kind = 'memory'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: Number.MAX_SAFE_INTEGER, infinite: true, ordered: true }
  readonly #clock: Clock
  readonly #records = new Map<string, MemoryRecord>()
  readonly #rooms: WaitingRooms
  /** The largest token of all deleted names: whichever of them comes back goes on above it. */
  #deletedToken = 0n
  readonly #closing = new AbortController()

  constructor({ clock = systemClock }: MemoryLeaseStoreOptions = {}) {
    this.#clock = clock
    this.#rooms = new WaitingRooms(clock, (name) => {
      const record = this.#records.get(name)
      return record !== undefined && isLocked(record) ? record.lockedUntil : Number.NEGATIVE_INFINITY
    })
  }

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Rejects with a `LeaseConfigurationError` where the ttl is not within the limits, with a `LeaseNameError` where the
   * name is not acceptable. A grant id whose lease is in force is granted again, with the same fencing token.
   */
  acquire(request: MemoryAcquireRequest, call?: StoreCall): Promise<AcquireOutcome> {
    return this.#settled(call, () => this.#acquire(request, this.#clock.now()))
  }

  /** The ttl is the recorded one: to change it, acquire again under the same grant id. */
  renew(grant: Grant, call?: StoreCall): Promise<RenewOutcome> {
    const failure = this.#unusable(call)
    return failure === undefined ? Promise.resolve(this.#renewed(grant, this.#clock.now())) : Promise.reject(failure)
  }

  renewMany(grants: readonly Grant[], call?: StoreCall): Promise<readonly RenewOutcome[]> {
    const failure = this.#unusable(call)
    if (failure !== undefined) return Promise.reject(failure)
    const now = this.#clock.now()
    return Promise.resolve(grants.map((grant) => this.#renewed(grant, now)))
  }

  /** Also after the grant has expired or was broken, as long as nobody else was granted. */
  release(grant: Grant, call?: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    return this.#settled(call, () => this.#release(grant, metadata))
  }

  read(name: string, call?: StoreCall): Promise<LeaseRecord | undefined> {
    const failure = this.#unusable(call)
    return failure === undefined ? Promise.resolve(this.#look(name)) : Promise.reject(failure)
  }

  update(grant: Grant, metadata: Metadata, call?: StoreCall): Promise<RenewOutcome> {
    return this.#settled(call, () => {
      const kept = this.#checked(grant.name, metadata)
      const outcome = this.#renewed(grant, this.#clock.now())
      const record = this.#records.get(grant.name)
      if (outcome.renewed && record !== undefined) record.metadata = kept
      return outcome
    })
  }

  /** In the order in which the names were first used. Gives way to the event loop after every 1,000 records. */
  async *list(prefix: string, call?: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    let count = 0
    for (const name of [...this.#records.keys()]) {
      const failure = this.#unusable(call)
      if (failure !== undefined) throw failure
      count += 1
      if (count % LISTED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
      const record = name.startsWith(prefix) ? this.#look(name) : undefined
      if (record !== undefined) yield record
    }
  }

  /**
   * Also granted where the lease is already that of the new id: a change whose answer was lost can be repeated, and is
   * then given the same fencing token.
   */
  change(
    { name, grantId }: Grant,
    to: { readonly grantId: string; readonly owner: string },
    call?: StoreCall,
  ): Promise<AcquireOutcome> {
    const failure = this.#unusable(call)
    if (failure !== undefined) return Promise.reject(failure)
    const record = this.#records.get(name)
    if (record === undefined) return Promise.resolve({ granted: false })
    const now = this.#clock.now()
    settle(record, now)
    const { grant: current, metadata } = record
    const isRepeated = current.grantId === to.grantId
    if (record.state !== 'leased' || (!isRepeated && current.grantId !== grantId)) {
      return Promise.resolve({ granted: false, ...holderOf(record, now) })
    }
    const token = isRepeated ? current.fencingToken : current.fencingToken + 1n
    const request = { name, owner: to.owner, grantId: to.grantId, ttl: current.ttl, metadata }
    return Promise.resolve(this.#grant(record, request, token, isRepeated ? record.previous : metadata, now))
  }

  /**
   * The period is at most 60,000 ms, else it rejects with a `LeaseConfigurationError`. Breaking again can only shorten
   * it. The reason is kept in the metadata, as `breakReason`, until the next grant.
   */
  break(name: string, { period, reason }: BreakOptions = {}, call?: StoreCall): Promise<{ remaining: number }> {
    const failure = this.#unusable(call) ?? periodFailure(name, period)
    if (failure !== undefined) return Promise.reject(failure)
    const record = this.#records.get(name)
    if (record === undefined || record.state === 'available') return Promise.reject(nothingToBreak(name))
    const now = this.#clock.now()
    // What has expired is not locked any longer by being broken.
    const remaining = Math.max(Math.min(record.lockedUntil - now, period ?? Number.POSITIVE_INFINITY), 0)
    record.lockedUntil = remaining === Number.POSITIVE_INFINITY ? now : now + remaining
    record.state = now < record.lockedUntil ? 'breaking' : 'broken'
    if (reason !== undefined) record.metadata = Object.freeze({ ...record.metadata, breakReason: reason })
    this.#rooms.update(name, now)
    return Promise.resolve({ remaining: record.lockedUntil - now })
  }

  withdraw(name: string, grantId: string, call?: StoreCall): Promise<void> {
    const failure = this.#unusable(call)
    if (failure !== undefined) return Promise.reject(failure)
    if (this.#rooms.has(name)) this.#rooms.remove(name, grantId, this.#clock.now())
    return Promise.resolve()
  }

  /**
   * Listening begins with the iteration. Of a name that becomes free, the first in line is told, and whoever gives no
   * grant id; where nobody is in line, whoever gives one too.
   */
  watch(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined> {
    return {
      [Symbol.asyncIterator]: () => {
        const failure = this.#unusable(undefined) ?? nameFailure(name)
        if (failure !== undefined) return { next: () => Promise.reject(failure) }
        return this.#rooms.listen(name, call, grantId, () => this.#look(name))
      },
    }
  }

  /**
   * Forgets the name, as an operator who deletes the blob: the holder is told at its next heartbeat, whoever waits
   * keeps his place. Resolves with whether there was a record. Fencing tokens of the name go on growing, for the store
   * remembers the largest of all that it has forgotten, and a name without a record counts on from there.
   */
  delete(name: string, call?: StoreCall): Promise<boolean> {
    const failure = this.#unusable(call)
    if (failure !== undefined) return Promise.reject(failure)
    const record = this.#records.get(name)
    if (record === undefined) return Promise.resolve(false)
    const { fencingToken } = record.grant
    if (fencingToken > this.#deletedToken) this.#deletedToken = fencingToken
    this.#records.delete(name)
    this.#tell(name)
    return Promise.resolve(true)
  }

  close(): Promise<void> {
    this.#closing.abort()
    this.#rooms.close()
    this.#records.clear()
    return Promise.resolve()
  }

  /**
   * For a resource of this process that checks leases as a blob does: the fencing token that the access is made under,
   * `undefined` for one without a lease id. Throws what {@link accessRefusal} says. A write without a lease id makes
   * the store forget an expired or broken lease, so that it cannot be renewed any more.
   *
   * @internal
   */
  admit(name: string, access: CellAccess, leaseId: string | undefined): bigint | undefined {
    const failure = this.#unusable(undefined)
    if (failure !== undefined) throw failure
    const record = this.#records.get(name)
    if (record !== undefined) settle(record, this.#clock.now())
    const refusal = accessRefusal(name, record, access, leaseId)
    if (refusal !== undefined) throw refusal
    if (leaseId !== undefined) return record?.grant.fencingToken
    if (record !== undefined && access === 'write') record.state = 'available'
    return undefined
  }

  #acquire(request: MemoryAcquireRequest, now: number): AcquireOutcome {
    const { name, grantId, ttl } = request
    const record = this.#records.get(name)
    const failure =
      this.#unusable(undefined) ??
      ttlFailure(name, ttl, this.limits) ??
      // The name of a record was checked when it came.
      (record === undefined ? nameFailure(name) : undefined)
    if (failure !== undefined) throw failure
    if (request.metadata !== undefined) this.#checked(name, request.metadata)
    if (record !== undefined) {
      settle(record, now)
      if (record.state === 'leased' && record.grant.grantId === grantId) {
        return this.#grant(record, request, record.grant.fencingToken, record.previous, now)
      }
      if (isLocked(record)) return this.#refuse(request, record, now)
    }
    if (!this.#rooms.admits(name, grantId, now)) return this.#refuse(request, undefined, now)
    const token = (record?.grant.fencingToken ?? this.#deletedToken) + 1n
    return this.#grant(record, request, token, record?.metadata, now)
  }

  #release({ name, grantId }: Grant, metadata: Metadata | undefined): ReleaseOutcome {
    const failure = this.#unusable(undefined)
    if (failure !== undefined) throw failure
    const record = this.#records.get(name)
    if (record === undefined) return { released: false }
    if (record.grant.grantId !== grantId || record.state === 'available') {
      return { released: false, ...holderOf(record, this.#clock.now()) }
    }
    if (metadata !== undefined) record.metadata = this.#checked(name, metadata)
    record.state = 'available'
    this.#tell(name)
    return RELEASED
  }

  #checked(name: string, metadata: Metadata): Metadata {
    checkMetadata(metadata, { leaseName: name, store: this.kind })
    return Object.freeze({ ...metadata })
  }

  /** What an operation that takes effect at once came to, as a promise. */
  #settled<T>(call: StoreCall | undefined, operate: () => T): Promise<T> {
    const failure = this.#unusable(call)
    if (failure !== undefined) return Promise.reject(failure)
    try {
      return Promise.resolve(operate())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #renewed({ name, grantId }: Grant, now: number): RenewOutcome {
    const record = this.#records.get(name)
    if (record === undefined) return { renewed: false, reason: 'deleted' }
    settle(record, now)
    const { grant, state } = record
    if (grant.grantId !== grantId || (state !== 'leased' && state !== 'expired')) {
      return { renewed: false, reason: endOf(record, grantId), ...holderOf(record, now) }
    }
    record.state = 'leased'
    record.lockedUntil = now + grant.ttl
    if (state === 'expired') this.#rooms.update(name, now)
    return RENEWED
  }

  #grant(
    record: MemoryRecord | undefined,
    request: MemoryAcquireRequest,
    fencingToken: bigint,
    previous: Metadata | undefined,
    now: number,
  ): AcquireOutcome {
    const { name, owner, grantId = randomUUID(), ttl } = request
    const grant = { name, owner, grantId, fencingToken, ttl }
    const isRepeated = record?.state === 'leased' && record.grant.grantId === grantId
    const otherwise = isRepeated ? record.metadata : NO_METADATA
    const metadata = request.metadata === undefined ? otherwise : Object.freeze({ ...request.metadata })
    const lockedUntil = now + ttl
    if (record === undefined) this.#records.set(name, { grant, state: 'leased', lockedUntil, metadata, previous })
    else Object.assign(record, { grant, state: 'leased', lockedUntil, metadata, previous })
    if (this.#rooms.size > 0) this.#rooms.remove(name, grantId, now)
    return previous === undefined ? { granted: true, grant } : { granted: true, grant, previous }
  }

  #refuse(
    { name, grantId, ttl, queue }: MemoryAcquireRequest,
    holder: MemoryRecord | undefined,
    now: number,
  ): AcquireOutcome {
    if (queue === true && grantId !== undefined) {
      const aliveUntil = now + (ttl === Number.POSITIVE_INFINITY ? LONGEST_UNREPEATED : ttl)
      this.#rooms.keep(name, grantId, now, aliveUntil)
    }
    return holder === undefined ? { granted: false } : { granted: false, holder: recordAt(holder, now) }
  }

  #look(name: string): LeaseRecord | undefined {
    const record = this.#records.get(name)
    if (record === undefined) return undefined
    const now = this.#clock.now()
    settle(record, now)
    return recordAt(record, now)
  }

  /** The name may be free now. Where nobody waits for it, even the time need not be looked at. */
  #tell(name: string): void {
    if (this.#rooms.has(name)) this.#rooms.update(name, this.#clock.now())
  }

  #unusable(call: StoreCall | undefined): LeaseError | undefined {
    if (this.#closing.signal.aborted)
      return new LeaseUnavailableError('the store is closed: make a new one', { store: this.kind })
    if (call?.aborted !== true) return undefined
    const { reason } = call.signal
    if (reason instanceof LeaseError) return reason
    return new LeaseUnavailableError('the attempt was ended before it began', { store: this.kind, cause: reason })
  }
}

function holderOf(record: MemoryRecord, now: number): { holder?: LeaseRecord } {
  settle(record, now)
  return isLocked(record) ? { holder: recordAt(record, now) } : {}
}

function nothingToBreak(name: string): LeaseConflictError {
  return new LeaseConflictError(`nobody holds '${name}': there is nothing to break`, {
    leaseName: name,
    store: 'memory',
  })
}
