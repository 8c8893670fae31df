import { anotherGrant, nothingToBreak } from '../store/break-conflict.js'
import { GRANTED_AGAIN, raisedTo } from '../store/fencing-token.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
} from '../store/lease-store.js'
import { withoutBreakReason } from '../store/metadata.js'
import { isLockedAt, refusalOf, type StoredLease, stateAt, toLeaseRecord } from './stored-lease.js'
import type { Place, WaitQueue } from './wait-queue.js'

/** For how long the place of a lease without expiry is kept, in milliseconds. */
const PLACE_WITHOUT_TTL = 60_000

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })
const RELEASED: ReleaseOutcome = Object.freeze({ released: true })
const NO_METADATA: Metadata = Object.freeze({})

/** The differences between stores. */
export interface LifeCycleRules<P extends Place = Place> {
  /** The kind of the store, for errors. */
  readonly store: string
  /** By how much the clocks of two users of the store may differ, in milliseconds: locks last longer by that. */
  readonly uncertainty: number
  /** The fencing token of the next grant; `last` is that of the record, if there is one. */
  readonly tokenAfter: (last: bigint | undefined) => bigint
  /** Whether the waiter of a place is certainly gone, though its place has not ended yet. */
  readonly isGone?: (place: P) => boolean
  /** The wall clock of the store, in milliseconds since 1970, for the records only; `undefined` if it is not known. */
  readonly wall?: (() => number | undefined) | undefined
}

/** The record of a name and its queue, at an instant of the store's clock. */
export interface NameState<P extends Place = Place> {
  readonly lease?: StoredLease | undefined
  readonly queue?: WaitQueue<P> | undefined
  readonly now: number
}

/** The outcome of an operation, and the changes with which it comes into force. */
export interface Decision<T> {
  readonly outcome: T
  /** The next record, if the record changes. */
  readonly next?: StoredLease | undefined
  /** Whether `next` differs from the record only in `lockedUntil` and `renewals`. */
  readonly renews?: boolean
  /** The grant ids whose places in the queue end. */
  readonly leave?: readonly string[] | undefined
  /** A place that is taken or kept, after the others have ended. */
  readonly keep?: Place | undefined
}

/**
 * The life cycle of a lease, that of Azure's Lease Blob (its reference: "Lease Blob", service version 2012-02-12 and
 * later). Each method decides on the state of a name, and does not change it.
 */
export class LifeCycle<P extends Place = Place> {
  readonly #rules: LifeCycleRules<P>

  constructor(rules: LifeCycleRules<P>) {
    this.#rules = rules
  }

  acquire(request: AcquireRequest, state: NameState<P>): Decision<AcquireOutcome> {
    const { name, grantId } = request
    const { lease, queue, now } = state
    if (lease !== undefined && isLockedAt(lease, now)) {
      if (lease.state === 'leased' && lease.grantId === grantId) return this.#grant(request, state)
      const outcome = { granted: false, holder: toLeaseRecord(name, lease, now) } as const
      return queueing(request, state, outcome)
    }
    const { stale, first } = this.turn(queue, now)
    if (first === undefined || first.grantId === grantId) return this.#grant(request, state, stale)
    return queueing(request, state, { granted: false }, stale)
  }

  /**
   * Renews the grant for the recorded ttl. `metadata` replaces the metadata of the record, if it is given. A record with a
   * larger token is that of a later grant: a late duplicate of a claim can be granted again, under the same grant id.
   */
  renew(grant: Grant, { lease, now }: NameState<P>, metadata?: Metadata): Decision<RenewOutcome> {
    const { name, grantId, fencingToken } = grant
    const state = lease === undefined ? undefined : stateAt(lease, now)
    if (lease?.grantId !== grantId || (state !== 'leased' && state !== 'expired')) {
      return { outcome: { renewed: false, reason: refusalOf(lease, grantId), ...holderOf(name, lease, now) } }
    }
    if (lease.fencingToken > fencingToken) return { outcome: GRANTED_AGAIN }
    const lockedUntil = this.#lockEnd(lease.ttl, now)
    const renewals = lease.renewals === undefined ? undefined : lease.renewals + 1
    const renewed = { ...lease, state: 'leased', lockedUntil, metadata: metadata ?? lease.metadata, renewals } as const
    return { outcome: RENEWED, next: renewed, renews: metadata === undefined }
  }

  /** A token that is as large already stays: a raise whose answer was lost can be repeated. */
  raiseToken(grant: Grant, token: bigint, state: NameState<P>): Decision<RenewOutcome> {
    const { next, ...decision } = this.renew(raisedTo(grant, token), state)
    if (next === undefined || next.fencingToken >= token) return { ...decision, next }
    return { outcome: decision.outcome, next: { ...next, fencingToken: token } }
  }

  /** `metadata` replaces the metadata of the record, if it is given, and no later grant has the same grant id. */
  release(grant: Grant, { lease, now }: NameState<P>, metadata?: Metadata): Decision<ReleaseOutcome> {
    const { name, grantId, fencingToken } = grant
    if (lease === undefined || lease.grantId !== grantId || lease.state === 'available') {
      return { outcome: { released: false, ...holderOf(name, lease, now) } }
    }
    const isKept = metadata === undefined || lease.fencingToken > fencingToken
    return { outcome: RELEASED, next: freed(isKept ? lease : { ...lease, metadata }, 'available') }
  }

  /** A change whose answer was lost can be repeated: it is granted again with the same fencing token. */
  change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, state: NameState<P>): Decision<AcquireOutcome> {
    const { name, grantId } = grant
    const { lease, now } = state
    const isLeased = lease?.state === 'leased' && isLockedAt(lease, now)
    if (!isLeased || (lease.grantId !== grantId && lease.grantId !== to.grantId)) {
      return { outcome: { granted: false, ...holderOf(name, lease, now) } }
    }
    const { ttl, metadata } = lease
    return this.#grant({ name, owner: to.owner, grantId: to.grantId, ttl, metadata }, state)
  }

  /**
   * Breaking again can only shorten the period. The reason is added to the metadata, as `breakReason`. Throws a
   * `LeaseConflictError` if there is nothing to break.
   */
  break(
    name: string,
    { period = Number.POSITIVE_INFINITY, reason, grantId }: BreakOptions,
    { lease, now }: NameState<P>,
  ): Decision<{ readonly remaining: number }> {
    const { store } = this.#rules
    if (lease !== undefined && grantId !== undefined && lease.grantId !== grantId) throw anotherGrant(name, store)
    if (lease === undefined || lease.state === 'available') throw nothingToBreak(name, store)
    // An expired lease stays free: a break never locks a name.
    const left = Math.min(period, Math.max(lease.lockedUntil - now, 0))
    const remaining = left === Number.POSITIVE_INFINITY ? 0 : left
    const metadata = reason === undefined ? lease.metadata : Object.freeze({ ...lease.metadata, breakReason: reason })
    if (remaining === 0) return { outcome: { remaining }, next: freed({ ...lease, metadata }, 'broken') }
    return { outcome: { remaining }, next: { ...lease, metadata, state: 'breaking', lockedUntil: now + remaining } }
  }

  /** The first place whose waiter is alive, and the grant ids of the places before it. */
  turn(queue: WaitQueue<P> | undefined, now: number): { readonly stale: readonly string[]; readonly first?: P } {
    const stale: string[] = []
    for (const place of queue?.places() ?? []) {
      if (this.#isWaiting(place, now)) return { stale, first: place }
      stale.push(place.grantId)
    }
    return { stale }
  }

  /** The record with the number of waiters, for a reader of the store; `undefined` if there is none. */
  record(name: string, { lease, queue, now }: NameState<P>): LeaseRecord | undefined {
    if (lease === undefined) return undefined
    let waiters = 0
    for (const place of queue?.places() ?? []) if (this.#isWaiting(place, now)) waiters += 1
    return { ...toLeaseRecord(name, lease, now), waiters }
  }

  #isWaiting(place: P, now: number): boolean {
    return now < place.keptUntil && this.#rules.isGone?.(place) !== true
  }

  /** A request with the id of the grant in force repeats it, and keeps its token. */
  #grant(
    request: AcquireRequest,
    { lease, queue, now }: NameState<P>,
    stale: readonly string[] = [],
  ): Decision<AcquireOutcome> {
    const { name, owner, grantId, ttl } = request
    const isRepeated = lease !== undefined && lease.grantId === grantId && isLockedAt(lease, now)
    const fencingToken = isRepeated ? lease.fencingToken : this.#rules.tokenAfter(lease?.fencingToken)
    const previous = isRepeated ? lease.previous : lease?.metadata
    const kept = isRepeated ? lease.metadata : withoutBreakReason(lease?.metadata ?? NO_METADATA)
    const metadata = request.metadata ?? kept
    const lockedUntil = this.#lockEnd(ttl, now)
    const grant = { name, owner, grantId, fencingToken, ttl }
    const { grantedAt, renewals } = isRepeated ? lease : { grantedAt: this.#rules.wall?.(), renewals: 0 }
    return {
      outcome: previous === undefined ? { granted: true, grant } : { granted: true, grant, previous },
      next: {
        owner,
        grantId,
        fencingToken,
        ttl,
        state: 'leased',
        lockedUntil,
        metadata,
        previous,
        grantedAt,
        renewals,
      },
      leave: queue?.get(grantId) === undefined ? stale : [...stale, grantId],
    }
  }

  /** The clock of another user may be ahead by the uncertainty: it must not see the end before this one does. */
  #lockEnd(ttl: number, now: number): number {
    return now + ttl + this.#rules.uncertainty
  }
}

/** A refused request takes or keeps its place. A place that ended is lost: the request goes to the end of the queue. */
function queueing(
  { grantId, ttl, queue: isQueued }: AcquireRequest,
  { queue, now }: NameState,
  outcome: AcquireOutcome,
  stale: readonly string[] = [],
): Decision<AcquireOutcome> {
  if (isQueued !== true) return stale.length === 0 ? { outcome } : { outcome, leave: stale }
  const keep = { grantId, keptUntil: now + (ttl === Number.POSITIVE_INFINITY ? PLACE_WITHOUT_TTL : ttl) }
  const own = queue?.get(grantId)
  if (own !== undefined && now < own.keptUntil) return { outcome, leave: stale, keep }
  const ended = [...stale, ...(queue?.sweep(now) ?? [])]
  return { outcome, leave: own === undefined ? ended : [...ended, grantId], keep }
}

function freed(lease: StoredLease, state: 'available' | 'broken'): StoredLease {
  return { ...lease, state, lockedUntil: Number.NEGATIVE_INFINITY, previous: undefined }
}

function holderOf(name: string, lease: StoredLease | undefined, now: number): { holder?: LeaseRecord } {
  return lease !== undefined && isLockedAt(lease, now) ? { holder: toLeaseRecord(name, lease, now) } : {}
}
