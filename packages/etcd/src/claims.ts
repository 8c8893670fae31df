import { type Grant, LeaseUnavailableError, type Metadata } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { CREATE, EQUAL, VALUE } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import { isLeaseGone } from './client/rpc-error.js'
import type { Heartbeats } from './heartbeats.js'
import { holderIn, holdingClaim, type LeaseNote, leftBy, type NameState, raisedToken, toValue } from './name-state.js'
import type { NameTable, Plan } from './name-table.js'
import type { AttachedGrant, ExtendedLease, ServerLeases } from './server-leases.js'

/** How long a place in the queue for a lease without expiry is kept, in milliseconds. */
const PLACE_WITHOUT_TTL = 60_000

/** How often an operation takes another server lease, because the one it had has expired. */
const LEASES = 3

/** A new owner of a name: a request, or the target of a change. */
interface Successor extends Omit<Grant, 'fencingToken'> {
  readonly metadata?: Metadata | undefined
}

type Granted = Extract<AcquireOutcome, { granted: true }>

/** The operations that make grants and keep places in the queue. */
export class Claims {
  readonly #client: EtcdClient
  readonly #names: NameTable
  readonly #leases: ServerLeases
  readonly #heartbeats: Heartbeats

  constructor(client: EtcdClient, names: NameTable, leases: ServerLeases, heartbeats: Heartbeats) {
    this.#client = client
    this.#names = names
    this.#leases = leases
    this.#heartbeats = heartbeats
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId, queue } = request
    const key = this.#names.keys.claimOf(name, grantId)
    for (;;) {
      let place: NameState['own']
      const { outcome, lease } = await this.#granting(request, call, (state, granted): Plan<AcquireOutcome> => {
        place = state.own
        const held = holdingClaim(state, grantId)
        // The grant in force: the key keeps its place in the queue. After a change to this grant id, it is another key.
        if (held !== undefined) return granted(repeated(state, request), held.key, key)
        const { first } = state
        if (first === undefined || first.note?.waiting === grantId) return granted(followed(state, request), key)
        return { outcome: refused(name, state) }
      })
      if (outcome.granted && queue === true) this.#leases.detach(placeOf(grantId))
      if (outcome.granted || queue !== true) return outcome
      if (await this.#keepPlace(request, key, place, lease, call)) return outcome
    }
  }

  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const { name } = grant
    const left = this.#names.keys.claimOf(name, to.grantId)
    const ttl = (await this.#names.read(name, undefined, call)).note?.ttl ?? grant.ttl
    const { outcome } = await this.#granting({ name, ...to, ttl }, call, (state, granted): Plan<AcquireOutcome> => {
      const done = holdingClaim(state, to.grantId)
      if (done !== undefined) return granted(repeated(state, { ...to, ttl }), done.key, left)
      const held = holdingClaim(state, grant.grantId)
      if (held === undefined) return { outcome: refused(name, state) }
      return granted(followed(state, { ...to, ttl }), held.key, left)
    })
    return outcome
  }

  /** Deletes the place, if there is one. Its server lease expires by itself. */
  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    const key = this.#names.keys.claimOf(name, grantId)
    const compare = [{ result: EQUAL, target: VALUE, key, value: toValue({ waiting: grantId }) }]
    const failure = [{ requestRange: { key } }]
    await this.#client.write(name, { compare, success: [{ requestDeleteRange: { key } }], failure }, call)
    this.#leases.detach(placeOf(grantId))
  }

  /**
   * Carries out a plan that may write a grant, on a server lease that is extended meanwhile. `left`: the place in the queue
   * that ends.
   */
  async #granting(
    successor: Successor,
    call: StoreCall,
    plan: (
      state: NameState,
      granted: (note: LeaseNote, key: Buffer, left?: Buffer) => Plan<AcquireOutcome>,
    ) => Plan<AcquireOutcome>,
  ): Promise<{ readonly outcome: AcquireOutcome; readonly lease: ExtendedLease }> {
    const { name, owner, grantId, ttl } = successor
    for (let count = 0; count < LEASES; count += 1) {
      const lease = await this.#leases.for(ttl, call)
      const { id: leaseId, extended } = lease
      const claim = { held: grantId, owner, ttl, lease: leaseId }
      let attached: AttachedGrant | undefined
      let term = '0'
      try {
        const outcome = await this.#names.carryOut(name, grantId, call, (state) =>
          plan(state, (note, key, left) => {
            attached = { grantId, key, value: toValue(claim), ttl, leaseId }
            this.#leases.attach(attached)
            return {
              changes: { note, claim: { key, note: claim, lease: leaseId }, ...(left === undefined ? {} : { left }) },
              done: ({ revision, raftTerm }) => {
                term = raftTerm
                return grantedBy(successor, note, note.token ?? revision)
              },
            }
          }),
        )
        if (!outcome.granted) this.#leases.detach(grantId)
        if (!outcome.granted || attached === undefined) return { outcome, lease }
        this.#leases.granted(outcome.grant)
        if (await this.#heartbeats.confirmed(attached, extended, term, call)) return { outcome, lease }
      } catch (error) {
        if (!isLeaseGone(error)) throw error
        await this.#leases.extend(leaseId)
      }
    }
    throw new LeaseUnavailableError(`the server lease of '${name}' has expired ${LEASES} times in a row: try again`, {
      leaseName: name,
      store: 'etcd',
    })
  }

  /** Resolves with whether the place was kept. If not, it is the first in the queue by now, or it was lost meanwhile. */
  async #keepPlace(
    { name, grantId, ttl }: AcquireRequest,
    key: Buffer,
    place: NameState['own'],
    lease: ExtendedLease,
    call: StoreCall,
  ): Promise<boolean> {
    const isEndless = ttl === Number.POSITIVE_INFINITY
    const duration = isEndless ? PLACE_WITHOUT_TTL : ttl
    const { id: leaseId, extended } = isEndless ? await this.#leases.for(duration, call) : lease
    const isAttached = place !== undefined && place.lease === leaseId
    const value = toValue({ waiting: grantId })
    // From now on, the lease is not extended for a place that is not repeated.
    this.#leases.attach({ grantId: placeOf(grantId), key, value, ttl: duration, leaseId })
    try {
      const isFirst = isAttached ? false : await this.#writePlace(name, key, value, leaseId, call)
      if ((await untilAborted(extended, call)) !== undefined) return !isFirst
    } catch (error) {
      if (!isLeaseGone(error)) throw error
      await this.#leases.extend(leaseId)
    }
    // The lease of the place has ended, or counts no more: the place moves to the next one.
    return false
  }

  /** Takes the place, or attaches it to this server lease. Resolves with whether it is the first in the queue. */
  async #writePlace(name: string, key: Buffer, value: Buffer, lease: string, call: StoreCall): Promise<boolean> {
    const first = { requestRange: { ...this.#names.keys.claimsOf(name), limit: '1', sortOrder: 1, sortTarget: 2 } }
    const success = [{ requestPut: { key, value, lease } }, first]
    const failure = [{ requestRange: { key } }, first]
    const isNew = { result: EQUAL, target: CREATE, key, createRevision: '0' }
    const taken = await this.#client.write(name, { compare: [isNew], success, failure }, call)
    const isTaken = taken.succeeded || taken.responses[0]?.responseRange?.kvs[0]?.value.equals(value) !== true
    const isSame = { result: EQUAL, target: VALUE, key, value }
    const { responses } = isTaken
      ? taken
      : await this.#client.write(name, { compare: [isSame], success, failure }, call)
    return responses.at(-1)?.responseRange?.kvs[0]?.key.equals(key) === true
  }
}

/** The id under which a place in the queue is attached to a server lease. */
function placeOf(grantId: string): string {
  return `place of ${grantId}`
}

/** The record of the next grant. */
function followed(state: NameState, { grantId, owner, ttl, metadata }: Omit<Successor, 'name'>): LeaseNote {
  const { note } = state
  const token = raisedToken(state)
  const previous = note === undefined ? {} : { previous: leftBy(note) }
  return {
    ...{ grantId, owner, ttl, state: 'leased', metadata: metadata ?? note?.metadata ?? {}, ...previous },
    ...(token === undefined ? {} : { token }),
  }
}

/** The record of the grant in force, once more. */
function repeated({ note }: NameState, { grantId, owner, ttl, metadata }: Omit<Successor, 'name'>): LeaseNote {
  return { ...note, grantId, owner, ttl, state: 'leased', metadata: metadata ?? note?.metadata ?? {} }
}

function grantedBy({ name, owner, grantId, ttl }: Successor, { previous }: LeaseNote, token: string): Granted {
  const grant = { name, owner, grantId, ttl, fencingToken: BigInt(token) }
  return { granted: true, grant, ...(previous === undefined ? {} : { previous }) }
}

function refused(name: string, state: NameState): AcquireOutcome {
  return { granted: false, ...holderIn(name, state) }
}
