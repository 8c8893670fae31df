import { type Grant, LeaseUnavailableError, type Metadata } from '@leasehold/core'
import type { RenewOutcome, StoreCall } from '@leasehold/core/store'
import { GRANTED_AGAIN, raisedTo, untilAborted } from '@leasehold/core/store-kit'
import { EQUAL, type Header, VALUE } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import { isLeaseGone } from './client/rpc-error.js'
import { holderIn, holdingClaim, isLater, type NameState, tokenOf, toValue } from './name-state.js'
import type { NameTable, Plan } from './name-table.js'
import { type AttachedGrant, NO_LEASE, type ServerLeases } from './server-leases.js'

/** How many keys one transaction checks; the limit of a server is 128 unless its operator has set another one. */
const PAGE = 100

/** How often a heartbeat begins again, because the cluster elected a leader meanwhile. */
const ROUNDS = 3

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })

/**
 * Renews grants: one keep-alive for each ttl, and then a look at the key of each grant, because a keep-alive does not tell
 * that a key was deleted or passed on.
 *
 * The keep-alive must come from the leader that the look came from, or from a later one: a member that was cut off may take
 * itself for the leader for a while, and its keep-alives extend nothing. The term of the answers shows that.
 */
export class Heartbeats {
  readonly #client: EtcdClient
  readonly #names: NameTable
  readonly #leases: ServerLeases

  constructor(client: EtcdClient, names: NameTable, leases: ServerLeases) {
    this.#client = client
    this.#names = names
    this.#leases = leases
  }

  /** Resolves with the outcomes, in the order of the grants. An outcome that is unknown is an error. */
  async renew(grants: readonly Grant[], call: StoreCall): Promise<(RenewOutcome | Error)[]> {
    const known = grants.flatMap((grant) => this.#leases.find(grant) ?? [])
    for (const grant of known) this.#leases.attach(grant)
    const outcomes = new Map<string, RenewOutcome | Error>()
    await Promise.all(
      pagesOf(known).map(async (page) => {
        try {
          for (const grantId of await this.#confirm(page, call)) outcomes.set(grantId, RENEWED)
        } catch (error) {
          for (const { grantId } of page) outcomes.set(grantId, error as Error)
        }
      }),
    )
    return await Promise.all(
      grants.map((grant) => outcomes.get(grant.grantId) ?? this.#settle(grant, call).catch((error: Error) => error)),
    )
  }

  /** Replaces the metadata of a grant, and renews it. */
  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    const outcome = await this.#names.carryOut(name, undefined, call, (state): Plan<RenewOutcome> => {
      if (holdingClaim(state, grantId) === undefined || state.note === undefined) {
        return { outcome: refusal(name, state, grantId) }
      }
      if (isLater(state, grant)) return { outcome: GRANTED_AGAIN }
      return { changes: { note: { ...state.note, metadata } }, done: () => RENEWED }
    })
    return await this.#renewedAfter(outcome, grant, call)
  }

  /** Writes a larger fencing token into the record of a grant, and renews it. */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    const raised = raisedTo(grant, token)
    const outcome = await this.#names.carryOut(name, undefined, call, (state): Plan<RenewOutcome> => {
      const { note } = state
      if (holdingClaim(state, grantId) === undefined || note?.grantId !== grantId) {
        return { outcome: refusal(name, state, grantId) }
      }
      if (isLater(state, raised)) return { outcome: GRANTED_AGAIN }
      if (tokenOf(note) >= token) return { outcome: RENEWED }
      return { changes: { note: { ...note, token: String(token) } }, done: () => RENEWED }
    })
    return await this.#renewedAfter(outcome, raised, call)
  }

  /** Renews a grant whose record was written. */
  async #renewedAfter(outcome: RenewOutcome, grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    if (!outcome.renewed) return outcome
    const [renewed] = await this.renew([grant], call)
    if (renewed instanceof Error) throw renewed
    return renewed ?? outcome
  }

  /**
   * Whether a grant that was written in this term is in force, on a server lease that was extended for it. The keep-alive
   * was sent with the grant: if its answer is not of that term, another one is sent.
   */
  async confirmed(
    attached: AttachedGrant,
    extended: Promise<bigint | undefined>,
    term: string,
    call: StoreCall,
  ): Promise<boolean> {
    const extendedIn = await untilAborted(extended, call)
    if (extendedIn !== undefined && extendedIn >= BigInt(term)) return true
    return (await this.#confirm([attached], call)).length === 1
  }

  /** Resolves with the ids of the grants in force whose server lease was extended. A page has one server lease. */
  async #confirm(page: readonly AttachedGrant[], call: StoreCall): Promise<readonly string[]> {
    const [first] = page
    if (first === undefined) return []
    for (let round = 0; round < ROUNDS; round += 1) {
      const extendedIn = await untilAborted(this.#leases.extend(first.leaseId), call)
      if (extendedIn === undefined) return []
      const check = await this.#client.request('Txn', checkOf(page), call)
      const { header, responses } = check.succeeded ? check : await this.#client.request('Txn', lookAt(page), call)
      if (extendedIn < BigInt(header.raftTerm)) continue
      const held = page.filter(({ value }, place) => {
        return check.succeeded || responses[place]?.responseRange?.kvs[0]?.value.equals(value) === true
      })
      return held.map(({ grantId }) => grantId)
    }
    throw new LeaseUnavailableError('etcd elected leaders one after the other: try again', { store: 'etcd' })
  }

  /** Renews a grant that another store has written, or finds the reason why it is not in force. */
  async #settle(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    const state = await this.#names.read(name, undefined, call)
    const held = holdingClaim(state, grantId)
    if (held === undefined) {
      this.#leases.detach(grantId)
      return refusal(name, state, grantId)
    }
    if (isLater(state, grant)) return GRANTED_AGAIN
    const ttl = state.note?.ttl ?? grant.ttl
    if (ttl === Number.POSITIVE_INFINITY && held.lease === NO_LEASE) return RENEWED
    return await this.#move({ ...grant, ttl }, call).catch((error: unknown) => {
      throw isLeaseGone(error) ? hasExpired(name, error) : error
    })
  }

  /** Attaches the key of a grant in force to a server lease of this store. */
  async #move(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId, owner, ttl, fencingToken } = grant
    const { id: leaseId, extended } = await this.#leases.for(ttl, call)
    let attached: AttachedGrant | undefined
    let term = '0'
    const outcome = await this.#names.carryOut(name, undefined, call, (state): Plan<RenewOutcome> => {
      const held = holdingClaim(state, grantId)
      if (held === undefined) return { outcome: refusal(name, state, grantId) }
      if (isLater(state, grant)) return { outcome: GRANTED_AGAIN }
      const note = { held: grantId, owner, ttl, lease: leaseId }
      attached = { grantId, fencingToken, key: held.key, value: toValue(note), ttl, leaseId }
      this.#leases.attach(attached)
      const changes = { claim: { key: held.key, note, lease: leaseId } }
      const done = ({ raftTerm }: Header): RenewOutcome => {
        term = raftTerm
        return RENEWED
      }
      return { changes, done }
    })
    if (!outcome.renewed || attached === undefined) return outcome
    if (await this.confirmed(attached, extended, term, call)) return RENEWED
    throw hasExpired(name)
  }
}

/** All grants of a page are on one server lease. */
function pagesOf(grants: readonly AttachedGrant[]): readonly AttachedGrant[][] {
  const pages: AttachedGrant[][] = []
  const open = new Map<string, AttachedGrant[]>()
  for (const grant of grants) {
    let page = open.get(grant.leaseId)
    if (page === undefined || page.length === PAGE) {
      page = []
      pages.push(page)
      open.set(grant.leaseId, page)
    }
    page.push(grant)
  }
  return pages
}

/** A transaction that compares all values, and succeeds if none differs. */
function checkOf(page: readonly AttachedGrant[]) {
  const compare = page.map(({ key, value }) => ({ result: EQUAL, target: VALUE, key, value }))
  return { compare, success: [], failure: [] }
}

/** A transaction that returns all values. It is needed only if one differs. */
function lookAt(page: readonly AttachedGrant[]) {
  return { compare: [], success: page.map(({ key }) => ({ requestRange: { key } })), failure: [] }
}

function hasExpired(leaseName: string, cause?: unknown): LeaseUnavailableError {
  const message = `the server lease of '${leaseName}' has expired: try again`
  return new LeaseUnavailableError(message, { leaseName, store: 'etcd', cause })
}

function refusal(name: string, state: NameState, grantId: string): RenewOutcome {
  const { note } = state
  const holder = holderIn(name, state)
  if (note === undefined)
    return { renewed: false, reason: holder.holder === undefined ? 'deleted' : 'taken', ...holder }
  if (note.grantId !== grantId) return { renewed: false, reason: 'taken', ...holder }
  if (note.state === 'breaking') return { renewed: false, reason: 'broken', ...holder }
  return { renewed: false, reason: 'expired' }
}
