import type { Clock, Grant } from '@leasehold/core'
import { LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { EQUAL, VALUE } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import { joinedWrites } from './client/joining.js'
import { isLeaseGone } from './client/rpc-error.js'
import type { Claim } from './name-state.js'

/** The id that stands for no lease. */
export const NO_LEASE = '0'

/** The time limit of what several operations share, in milliseconds: each has its own limit as well. */
const SHARED_TIMEOUT = 10_000

/** How many keys one transaction deletes. */
const PAGE = 50

/** A grant of this store whose key is attached to a server lease of this store. */
export interface AttachedGrant {
  readonly grantId: string
  /** `undefined` until it is known: a claim that was written may have had no answer. */
  readonly fencingToken?: bigint
  readonly key: Buffer
  readonly value: Buffer
  readonly ttl: number
  readonly leaseId: string
}

interface Attached extends AttachedGrant {
  fencingToken?: bigint
  /** When the last heartbeat of the grant was asked for. */
  readonly askedAt: number
}

/** The answer to a keep-alive: the term of the member that answered; `undefined` if the lease is gone, or counts no more. */
type Extended = bigint | undefined

/** The id of a server lease, and the answer to a keep-alive of it. */
export interface ExtendedLease {
  readonly id: string
  readonly extended: Promise<Extended>
}

interface ServerLease {
  readonly id: string
  readonly seconds: number
  /** A term of the cluster before the lease was granted. */
  readonly term: bigint
  /** The grants that are attached, the one whose heartbeat is the oldest first. */
  readonly grants: Map<string, Attached>
  /** The keep-alive that is sent in this turn of the event loop. */
  next: Promise<Extended> | undefined
  /** Until when the server keeps it at least, by the clock of this machine. */
  keptUntil: number
}

/** A term above all others: for what needs no check of the term. */
const ANY_TERM = (1n << 64n) - 1n

/** A transaction that reads the term of the cluster alone. */
const NOTHING = { compare: [], success: [], failure: [] }

/**
 * The server leases of a store: one for each ttl in whole seconds, shared by all grants with that ttl. A keep-alive extends
 * them all, also those whose holder sends no heartbeats any more. So before each keep-alive, the keys of grants that have had
 * no heartbeat for a ttl are deleted.
 *
 * A keep-alive counts only in the term in which the lease was granted. A leader that stood still for a while knows nothing of
 * the keep-alives that its successor has answered, and may revoke the lease when it runs again. It does not know leases that
 * the successor has granted. So after an election, each grant moves to a new one with its next heartbeat.
 */
export class ServerLeases {
  readonly #client: EtcdClient
  readonly #clock: Clock
  readonly #byTtl = new Map<number, Promise<ServerLease>>()
  readonly #byId = new Map<string, ServerLease>()
  readonly #attached = new Map<string, Attached>()

  constructor(client: EtcdClient) {
    this.#client = client
    this.#clock = client.clock
  }

  /**
   * The id of a server lease for grants with this ttl, and the answer to a keep-alive of it that was sent after the call of
   * this method. A lease that is made now needs no keep-alive.
   */
  async for(ttl: number, call: StoreCall): Promise<ExtendedLease> {
    if (ttl === Number.POSITIVE_INFINITY) return { id: NO_LEASE, extended: Promise.resolve(ANY_TERM) }
    const seconds = Math.ceil(ttl / 1_000)
    const current = this.#byTtl.get(seconds)
    if (current !== undefined) {
      const lease = await untilAborted(current, call)
      if (this.#clock.now() < lease.keptUntil) return { id: lease.id, extended: this.extend(lease.id) }
      // It has probably expired.
      if (this.#byTtl.get(seconds) === current) this.#byTtl.delete(seconds)
      if (lease.grants.size === 0) this.#byId.delete(lease.id)
    }
    const granting = this.#byTtl.get(seconds) ?? this.#grant(seconds)
    this.#byTtl.set(seconds, granting)
    const { id } = await untilAborted(granting, call)
    return { id, extended: Promise.resolve(ANY_TERM) }
  }

  /** The id of a server lease of its own, for a break, in whole seconds. Nothing keeps it alive by itself. */
  async single(duration: number, call: StoreCall): Promise<string> {
    const seconds = Math.ceil(duration / 1_000)
    const { ID, TTL } = await this.#client.request('LeaseGrant', { TTL: String(seconds), ID: '0' }, call)
    // The server may raise a ttl that is shorter than its elections.
    if (Number(TTL) >= seconds) return ID
    throw new LeaseUnavailableError(`etcd granted a lease of ${TTL} s instead of ${seconds} s`, { store: 'etcd' })
  }

  /** A keep-alive that is sent after the call of this method; all calls of one turn of the event loop share it. */
  extend(id: string): Promise<Extended> {
    if (id === NO_LEASE) return Promise.resolve(ANY_TERM)
    const lease = this.#byId.get(id)
    if (lease === undefined) return Promise.resolve(undefined)
    if (lease.next === undefined) {
      lease.next = this.#extend(lease)
      // A caller whose write was refused does not wait for it.
      lease.next.catch(() => {})
    }
    return lease.next
  }

  /** The grant, if it is attached to a lease of this store: not a later one with its id, nor one whose token is not known. */
  find({ grantId, fencingToken }: Pick<Grant, 'grantId' | 'fencingToken'>): AttachedGrant | undefined {
    const attached = this.#attached.get(grantId)
    return attached?.fencingToken !== undefined && attached.fencingToken <= fencingToken ? attached : undefined
  }

  /** Keeps the token of a grant that was written. */
  granted({ grantId, fencingToken }: Pick<Grant, 'grantId' | 'fencingToken'>): void {
    const attached = this.#attached.get(grantId)
    if (attached !== undefined) attached.fencingToken = fencingToken
  }

  /** The milliseconds until the key of a lock is deleted, in whole seconds; `undefined` without a key. */
  async remaining(lock: Pick<Claim, 'lease'> | undefined, call: StoreCall): Promise<number | undefined> {
    if (lock === undefined) return undefined
    if (lock.lease === NO_LEASE) return Number.POSITIVE_INFINITY
    return Math.max(await this.#secondsLeft(lock.lease, call), 0) * 1_000
  }

  /** The time left of a server lease, in milliseconds, rounded up. */
  async leftOf(id: string, call: StoreCall): Promise<number> {
    return Math.max((await this.#secondsLeft(id, call)) + 1, 0) * 1_000
  }

  /**
   * Registers a grant, or a heartbeat of it. It has to be called before the key is written: if the answer is lost, the key
   * must not last as long as the lease.
   */
  attach(grant: AttachedGrant): void {
    const grants = this.#byId.get(grant.leaseId)?.grants
    if (grants === undefined) return
    this.detach(grant.grantId)
    const attached = { ...grant, askedAt: this.#clock.now() }
    grants.set(grant.grantId, attached)
    this.#attached.set(grant.grantId, attached)
  }

  detach(grantId: string): void {
    const attached = this.#attached.get(grantId)
    if (attached === undefined) return
    this.#attached.delete(grantId)
    this.#byId.get(attached.leaseId)?.grants.delete(grantId)
  }

  async #grant(seconds: number): Promise<ServerLease> {
    const { call, end } = this.#sharedCall()
    try {
      const { header } = await this.#client.request('Txn', NOTHING, call)
      const term = BigInt(header.raftTerm)
      const keptUntil = this.#clock.now() + seconds * 1_000
      const id = await this.single(seconds * 1_000, call)
      const lease: ServerLease = { id, grants: new Map(), next: undefined, keptUntil, seconds, term }
      this.#byId.set(id, lease)
      return lease
    } catch (error) {
      this.#byTtl.delete(seconds)
      throw error
    } finally {
      end()
    }
  }

  /** Resolves with the seconds left, rounded down; -1 if the lease is gone. */
  async #secondsLeft(ID: string, call: StoreCall): Promise<number> {
    try {
      return Number((await this.#client.request('LeaseTimeToLive', { ID }, call)).TTL)
    } catch (error) {
      if (isLeaseGone(error)) return -1
      throw error
    }
  }

  async #extend(lease: ServerLease): Promise<Extended> {
    const { call, end } = this.#sharedCall()
    try {
      await new Promise((resolve) => setImmediate(resolve))
      // Later calls need a keep-alive that is sent after them.
      lease.next = undefined
      await this.#endOverdue(lease, call)
      const keptUntil = this.#clock.now() + lease.seconds * 1_000
      const { TTL, header } = await this.#client.request('LeaseKeepAlive', { ID: lease.id }, call)
      const term = BigInt(header.raftTerm)
      if (Number(TTL) > 0 && term <= lease.term) {
        lease.keptUntil = keptUntil
        return term
      }
    } catch (error) {
      if (!isLeaseGone(error)) throw error
    } finally {
      end()
    }
    lease.keptUntil = Number.NEGATIVE_INFINITY
    for (const grantId of lease.grants.keys()) this.#attached.delete(grantId)
    this.#byId.delete(lease.id)
    return undefined
  }

  /** Deletes the keys of grants without heartbeats. Their holders ended a moment before, on the same clock. */
  async #endOverdue({ grants }: ServerLease, call: StoreCall): Promise<void> {
    const overdue: Attached[] = []
    for (const grant of grants.values()) {
      if (this.#clock.now() - grant.askedAt < grant.ttl) break
      overdue.push(grant)
    }
    for (let from = 0; from < overdue.length; from += PAGE) {
      const page = overdue.slice(from, from + PAGE)
      await this.#deleteUnchanged(page, call)
      for (const { grantId } of page) this.detach(grantId)
    }
  }

  /** Deletes the keys that still have the values of these grants. It does not wait for a crowd of claims. */
  async #deleteUnchanged(grants: readonly AttachedGrant[], call: StoreCall): Promise<void> {
    for (let left = grants; left.length > 0; ) {
      const requests = left.map(({ key, value }) => ({
        compare: [{ result: EQUAL, target: VALUE, key, value }],
        success: [{ requestDeleteRange: { key } }],
        failure: [{ requestRange: { key } }],
      }))
      const answer = await this.#client.request('Txn', joinedWrites.join(requests), call)
      const answers = joinedWrites.split(answer, requests)
      left = left.filter((_, place) => answers[place] === undefined)
    }
  }

  #sharedCall(): { readonly call: StoreCall; readonly end: () => void } {
    const call = new AbortableCall(SHARED_TIMEOUT)
    const end = this.#clock.schedule(SHARED_TIMEOUT, () => {
      call.abort(new LeaseUnavailableError('the server lease was not answered for', { store: 'etcd' }))
    })
    return { call, end }
  }
}
