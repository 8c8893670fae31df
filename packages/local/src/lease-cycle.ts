import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Grant,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseState,
  type ReleaseOutcome,
  type RenewOutcome,
} from '@leasehold/core'
import type { Boot } from './boot.js'
import { recordKey } from './keys.js'
import type { LeaseDatabase } from './lease-database.js'
import { isLocked, remainingOf, type StoredRecord, stateAt, toLeaseRecord } from './stored-record.js'
import type { WaitQueue } from './wait-queue.js'

/** For how long a place is kept that is for a lease without expiry, in milliseconds. */
const PLACE_WITHOUT_TTL = 60_000

/**
 * The life cycle of the records, that of Azure's Lease Blob. Each method is to be called in a write transaction, checks
 * before it writes, and decides about expiry by the time since boot, with all doubt in favour of the holder.
 */
export class LeaseCycle {
  readonly #database: LeaseDatabase
  readonly #queue: WaitQueue
  readonly #boot: Boot
  /** The names whose waiters are to be woken after the commit. */
  #freed = new Set<string>()

  constructor(database: LeaseDatabase, queue: WaitQueue, boot: Boot) {
    this.#database = database
    this.#queue = queue
    this.#boot = boot
  }

  /** The names that became free, or whose first waiter changed, since the last call. */
  takeFreed(): ReadonlySet<string> {
    const freed = this.#freed
    this.#freed = new Set()
    return freed
  }

  /** The stored record; also outside of a transaction. */
  record(name: string): StoredRecord | undefined {
    const text = this.#database.entries.get(recordKey(name))
    return text === undefined ? undefined : (JSON.parse(text) as StoredRecord)
  }

  acquire(request: AcquireRequest): AcquireOutcome {
    const { name, grantId } = request
    const now = this.#boot.now()
    const record = this.record(name)
    const state = record === undefined ? 'available' : stateAt(record, now)
    if (record !== undefined && isLocked(state)) {
      if (state === 'leased' && record.grantId === grantId)
        return this.#grant(request, record, BigInt(record.fencingToken))
      this.#wait(request, record, now)
      return { granted: false, holder: toLeaseRecord(name, record, now) }
    }
    if (record?.queued === true) {
      const changed = this.#queue.removeStale(name, now)
      const first = this.#queue.first(name, now)
      if (first !== undefined && first.grantId !== grantId) {
        if (changed) this.#freed.add(name)
        this.#wait(request, record, now)
        return { granted: false }
      }
      this.#queue.leave(name, grantId)
    }
    return this.#grant(request, record, this.#database.tokenAfter(BigInt(record?.fencingToken ?? 0)))
  }

  renew(grant: Grant): RenewOutcome {
    const { name, grantId } = grant
    const now = this.#boot.now()
    const record = this.record(name)
    if (record === undefined) return { renewed: false, reason: 'deleted' }
    const state = stateAt(record, now)
    if (record.grantId !== grantId) {
      const refused = { renewed: false, reason: 'taken' } as const
      return isLocked(state) ? { ...refused, holder: toLeaseRecord(name, record, now) } : refused
    }
    if (state === 'breaking' || state === 'broken') return { renewed: false, reason: 'broken' }
    if (state === 'available') return { renewed: false, reason: 'expired' }
    this.#put(name, { ...record, ttl: stored(grant.ttl), endsAt: this.#endOf(grant.ttl) })
    return { renewed: true }
  }

  release(grant: Grant): ReleaseOutcome {
    const { name, grantId } = grant
    const now = this.#boot.now()
    const record = this.record(name)
    if (record === undefined) return { released: false }
    if (record.grantId !== grantId || record.state === 'available') {
      if (!isLocked(stateAt(record, now))) return { released: false }
      return { released: false, holder: toLeaseRecord(name, record, now) }
    }
    this.#free(name, { ...record, state: 'available', endsAt: null })
    return { released: true }
  }

  read(name: string): LeaseRecord | undefined {
    const record = this.record(name)
    return record === undefined ? undefined : toLeaseRecord(name, record, this.#boot.now())
  }

  change(grant: Grant, to: { readonly grantId: string; readonly owner: string }): AcquireOutcome {
    const { name, ttl } = grant
    const now = this.#boot.now()
    const record = this.record(name)
    if (record === undefined) return { granted: false }
    const state = stateAt(record, now)
    if (!isLocked(state)) return { granted: false }
    const request = { name, owner: to.owner, grantId: to.grantId, ttl, metadata: record.metadata }
    // The change was made before, and its answer lost.
    if (state === 'leased' && record.grantId === to.grantId) {
      return this.#grant(request, record, BigInt(record.fencingToken))
    }
    if (state === 'leased' && record.grantId === grant.grantId) {
      return this.#grant(request, record, this.#database.tokenAfter(BigInt(record.fencingToken)))
    }
    return { granted: false, holder: toLeaseRecord(name, record, now) }
  }

  break(name: string, { period = Number.POSITIVE_INFINITY, reason }: BreakOptions): { readonly remaining: number } {
    const now = this.#boot.now()
    const record = this.record(name)
    if (record === undefined || record.state === 'available') {
      throw new LeaseConflictError(`there is no lease on '${name}' to break`, { leaseName: name, store: 'local' })
    }
    const left = Math.min(period, remainingOf(record, now))
    const remaining = left === Number.POSITIVE_INFINITY ? 0 : left
    const metadata = reason === undefined ? record.metadata : { ...record.metadata, breakReason: reason }
    if (remaining > 0) this.#put(name, { ...record, metadata, state: 'breaking', endsAt: now + remaining })
    else this.#free(name, { ...record, metadata, state: 'broken', endsAt: null })
    return { remaining }
  }

  withdraw(name: string, grantId: string): void {
    const record = this.record(name)
    if (record?.queued !== true || !this.#queue.leave(name, grantId)) return
    if (!isLocked(stateAt(record, this.#boot.now()))) this.#freed.add(name)
  }

  /** Has whoever frees the name ring, though nobody stands in its queue. */
  watch(name: string): void {
    const record = this.record(name)
    if (record === undefined) return
    if (!isLocked(stateAt(record, this.#boot.now()))) this.#freed.add(name)
    else if (!record.watched) this.#put(name, { ...record, watched: true })
  }

  #grant(request: AcquireRequest, record: StoredRecord | undefined, fencingToken: bigint): AcquireOutcome {
    const { name, owner, grantId, ttl } = request
    const state: LeaseState = 'leased'
    const same = record?.grantId === grantId && record.state === 'leased'
    this.#put(name, {
      owner,
      grantId,
      fencingToken: String(fencingToken),
      ttl: stored(ttl),
      state,
      endsAt: this.#endOf(ttl),
      metadata: request.metadata ?? (same ? record.metadata : {}),
      queued: record?.queued === true && !this.#queue.isEmpty(name),
      watched: record?.watched ?? false,
    })
    return { granted: true, grant: { name, owner, grantId, fencingToken, ttl } }
  }

  #wait({ name, grantId, ttl, queue }: AcquireRequest, record: StoredRecord, now: number): void {
    if (queue !== true) return
    this.#queue.keep(name, grantId, now + (ttl === Number.POSITIVE_INFINITY ? PLACE_WITHOUT_TTL : ttl))
    if (!record.queued) this.#put(name, { ...record, queued: true })
  }

  #free(name: string, record: StoredRecord): void {
    if (record.queued || record.watched) this.#freed.add(name)
    this.#put(name, { ...record, watched: false })
  }

  /** Others may be ahead of our clock by the uncertainty, and must not see the end before it has come here. */
  #endOf(ttl: number): number | null {
    return ttl === Number.POSITIVE_INFINITY ? null : this.#boot.now() + ttl + this.#boot.uncertainty
  }

  #put(name: string, record: StoredRecord): void {
    this.#database.entries.put(recordKey(name), JSON.stringify(record))
  }
}

function stored(ttl: number): number | null {
  return ttl === Number.POSITIVE_INFINITY ? null : ttl
}
