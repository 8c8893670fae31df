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
import type { LeaseDatabase } from './lease-database.js'
import type { LeaseChange, LeaseEntry, Place } from './lease-entry.js'
import { isLocked, remainingOf, type StoredRecord, stateAt, toLeaseRecord } from './stored-record.js'
import type { WaitQueue } from './wait-queue.js'

/** For how long a place is kept that is for a lease without expiry, in milliseconds. */
const PLACE_WITHOUT_TTL = 60_000

/** The outcome of an operation, decided on the entry as it is now. */
export interface Decision<T> {
  readonly outcome: T
  /** The outcome holds once it is in force. */
  readonly change?: LeaseChange | undefined
  /** Whether the name becomes free, or its first waiter another: its waiters are to be woken. */
  readonly frees?: boolean | undefined
}

/**
 * The life cycle of the records, that of Azure's Lease Blob. Each method decides on the entry as it is, changes nothing
 * itself, and decides about expiry by the time since boot, with all doubt in favour of the holder.
 */
export class LeaseCycle {
  readonly #database: LeaseDatabase
  readonly #queue: WaitQueue
  readonly #boot: Boot

  constructor(database: LeaseDatabase, queue: WaitQueue, boot: Boot) {
    this.#database = database
    this.#queue = queue
    this.#boot = boot
  }

  entry(name: string): LeaseEntry | undefined {
    return this.#database.entries.get(name)
  }

  acquire(request: AcquireRequest): Decision<AcquireOutcome> {
    const { name, grantId } = request
    const now = this.#boot.now()
    const entry = this.entry(name)
    if (entry === undefined) return this.#grant(request, undefined, this.#database.tokenAfter(0n))
    const { record } = entry
    const state = stateAt(record, now)
    if (state === 'leased' && record.grantId === grantId) {
      return this.#grant(request, record, BigInt(record.fencingToken))
    }
    const keep = this.#placeOf(request, now)
    if (isLocked(state)) {
      const outcome = { granted: false, holder: toLeaseRecord(name, record, now) } as const
      return keep === undefined ? { outcome } : { outcome, change: { keep } }
    }
    const { stale, first } = this.#queue.look(entry, now)
    if (first !== undefined && first.grantId !== grantId) {
      const outcome = { granted: false } as const
      if (keep === undefined && stale.length === 0) return { outcome }
      return { outcome, change: { leave: stale, keep }, frees: stale.length > 0 }
    }
    const token = this.#database.tokenAfter(BigInt(record.fencingToken))
    return this.#grant(request, record, token, [...stale, grantId])
  }

  renew({ name, grantId, ttl }: Grant): Decision<RenewOutcome> {
    const now = this.#boot.now()
    const record = this.entry(name)?.record
    if (record === undefined) return { outcome: { renewed: false, reason: 'deleted' } }
    const state = stateAt(record, now)
    if (record.grantId !== grantId) {
      const refused = { renewed: false, reason: 'taken' } as const
      return { outcome: isLocked(state) ? { ...refused, holder: toLeaseRecord(name, record, now) } : refused }
    }
    if (state === 'breaking' || state === 'broken') return { outcome: { renewed: false, reason: 'broken' } }
    if (state === 'available') return { outcome: { renewed: false, reason: 'expired' } }
    const renewed = { ...record, ttl: stored(ttl), endsAt: this.#endOf(ttl) }
    return { outcome: { renewed: true }, change: { record: renewed } }
  }

  release({ name, grantId }: Grant): Decision<ReleaseOutcome> {
    const now = this.#boot.now()
    const entry = this.entry(name)
    if (entry === undefined) return { outcome: { released: false } }
    const { record } = entry
    if (record.grantId !== grantId || record.state === 'available') {
      if (!isLocked(stateAt(record, now))) return { outcome: { released: false } }
      return { outcome: { released: false, holder: toLeaseRecord(name, record, now) } }
    }
    return { outcome: { released: true }, ...free(entry, { ...record, state: 'available', endsAt: null }) }
  }

  read(name: string): Decision<LeaseRecord | undefined> {
    const entry = this.entry(name)
    return { outcome: entry === undefined ? undefined : toLeaseRecord(name, entry.record, this.#boot.now()) }
  }

  change(grant: Grant, to: { readonly grantId: string; readonly owner: string }): Decision<AcquireOutcome> {
    const { name, ttl } = grant
    const now = this.#boot.now()
    const record = this.entry(name)?.record
    if (record === undefined) return { outcome: { granted: false } }
    const state = stateAt(record, now)
    if (!isLocked(state)) return { outcome: { granted: false } }
    const request = { name, owner: to.owner, grantId: to.grantId, ttl, metadata: record.metadata }
    // The change was made before, and its answer lost.
    if (state === 'leased' && record.grantId === to.grantId) {
      return this.#grant(request, record, BigInt(record.fencingToken))
    }
    if (state === 'leased' && record.grantId === grant.grantId) {
      return this.#grant(request, record, this.#database.tokenAfter(BigInt(record.fencingToken)))
    }
    return { outcome: { granted: false, holder: toLeaseRecord(name, record, now) } }
  }

  break(
    name: string,
    { period = Number.POSITIVE_INFINITY, reason }: BreakOptions,
  ): Decision<{ readonly remaining: number }> {
    const now = this.#boot.now()
    const entry = this.entry(name)
    if (entry === undefined || entry.record.state === 'available') {
      throw new LeaseConflictError(`there is no lease on '${name}' to break`, { leaseName: name, store: 'local' })
    }
    const { record } = entry
    const left = Math.min(period, remainingOf(record, now))
    const remaining = left === Number.POSITIVE_INFINITY ? 0 : left
    const outcome = { remaining }
    const metadata = reason === undefined ? record.metadata : { ...record.metadata, breakReason: reason }
    if (remaining === 0) return { outcome, ...free(entry, { ...record, metadata, state: 'broken', endsAt: null }) }
    return { outcome, change: { record: { ...record, metadata, state: 'breaking', endsAt: now + remaining } } }
  }

  withdraw(name: string, grantId: string): Decision<void> {
    const entry = this.entry(name)
    if (entry?.places.has(grantId) !== true) return { outcome: undefined }
    const frees = !isLocked(stateAt(entry.record, this.#boot.now()))
    return { outcome: undefined, change: { leave: [grantId] }, frees }
  }

  /** Makes the process that frees the name ring, though its queue is empty. */
  watch(name: string): Decision<void> {
    const record = this.entry(name)?.record
    if (record === undefined) return { outcome: undefined }
    if (!isLocked(stateAt(record, this.#boot.now()))) return { outcome: undefined, frees: true }
    return { outcome: undefined, change: record.watched ? undefined : { record: { ...record, watched: true } } }
  }

  #grant(
    request: AcquireRequest,
    record: StoredRecord | undefined,
    fencingToken: bigint,
    leave?: readonly string[],
  ): Decision<AcquireOutcome> {
    const { name, owner, grantId, ttl } = request
    const state: LeaseState = 'leased'
    const same = record?.grantId === grantId && record.state === 'leased'
    const granted = {
      owner,
      grantId,
      fencingToken: String(fencingToken),
      ttl: stored(ttl),
      state,
      endsAt: this.#endOf(ttl),
      metadata: request.metadata ?? (same ? record.metadata : {}),
      watched: record?.watched ?? false,
    }
    const grant = { name, owner, grantId, fencingToken, ttl }
    return { outcome: { granted: true, grant }, change: { record: granted, leave } }
  }

  /** The place that a request asks for, in a list. */
  #placeOf({ grantId, ttl, queue }: AcquireRequest, now: number): readonly Place[] | undefined {
    if (queue !== true) return undefined
    return [this.#queue.place(grantId, now + (ttl === Number.POSITIVE_INFINITY ? PLACE_WITHOUT_TTL : ttl))]
  }

  /** Others may be ahead of our clock by the uncertainty, and must not see the end before it has come here. */
  #endOf(ttl: number): number | null {
    return ttl === Number.POSITIVE_INFINITY ? null : this.#boot.now() + ttl + this.#boot.uncertainty
  }
}

function free({ places }: LeaseEntry, record: StoredRecord): Pick<Decision<never>, 'change' | 'frees'> {
  return { change: { record: { ...record, watched: false } }, frees: places.size > 0 || record.watched }
}

function stored(ttl: number): number | null {
  return ttl === Number.POSITIVE_INFINITY ? null : ttl
}
