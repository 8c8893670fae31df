import { type Clock, type Grant, isLocked, type LeaseRecord } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, RenewOutcome, StoreCall } from '@leasehold/core/store'
import { KNOWN_NAMES, RecentMap, settling } from '@leasehold/core/store-kit'
import { type AzureBlobConditions, conditionalOn } from './conditions.js'
import { createIsOff } from './failure-of.js'
import { type Found, holderOf, type LeaseResource } from './lease-resource.js'
import { isLeaseConflict, isStatus, isUnmet, type ServiceRenewal } from './service-answer.js'
import { toRecord, toSeconds } from './stored-grant.js'

/** A grant of this store, and when its last confirmed request was sent, on the local clock. */
interface OwnGrant {
  readonly grant: Grant
  readonly sentAt: number
}

/**
 * Grants without a record: the leases of the service, and nothing is written. The fencing token is the service's time, in
 * whole seconds. A grant is reported only after that second is over and the lease is still in force. Therefore no two grants
 * of a name have the same second.
 */
export class UnrecordedGrants {
  readonly hasRecords = false
  readonly #create: boolean
  readonly #clock: Clock
  /** The last grants of this store, by lease name: the service tells nobody who holds a lease, or for how long. */
  readonly #own = new RecentMap<OwnGrant>(KNOWN_NAMES)

  constructor(create: boolean, clock: Clock) {
    this.#create = create
    this.#clock = clock
  }

  /** Resolves with `undefined` if the caller has to try again. */
  async acquire(
    resource: LeaseResource,
    { name, owner, grantId, ttl, ifMatch }: AcquireRequest,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const conditions = ifMatch === undefined ? undefined : { ifMatch }
    const options = await conditionalOn(resource, name, conditions, this.#clock, call)
    if (options === undefined) return undefined
    const sentAt = this.#clock.now()
    try {
      const answer = await resource.leaseClient(grantId).acquireLease(toSeconds(ttl), options)
      return await this.#confirmed(resource, { name, owner, grantId, ttl }, { sentAt, date: answer.date }, call)
    } catch (error) {
      if (isUnmet(error, options)) return undefined
      if (isStatus(error, 404)) return await this.#make(resource, name, call.signal)
      if (!isLeaseConflict(error)) throw error
      return { granted: false, ...holderOf(name, await resource.find(call.signal)) }
    }
  }

  /** Like `acquire`, but changes the holder. Rejects with a `LeaseConflictError` if a condition is not met. */
  async change(
    resource: LeaseResource,
    { name, grantId, ttl }: Grant,
    to: Pick<Grant, 'grantId' | 'owner'>,
    call: StoreCall,
    conditions?: AzureBlobConditions,
  ): Promise<AcquireOutcome | undefined> {
    const options = await conditionalOn(resource, name, conditions, this.#clock, call)
    if (options === undefined) return undefined
    const abortSignal = call.signal
    try {
      const { date } = await resource.leaseClient(grantId).changeLease(to.grantId, options)
      const sentAt = this.#clock.now()
      // A change does not renew the lease: this renewal starts a whole ttl.
      await resource.leaseClient(to.grantId).renewLease({ abortSignal })
      return await this.#confirmed(resource, { name, ...to, ttl }, { sentAt, date }, call)
    } catch (error) {
      if (isUnmet(error, options)) return undefined
      if (!isLeaseConflict(error) && !isStatus(error, 404)) throw error
      return { granted: false, ...holderOf(name, await resource.find(abortSignal)) }
    }
  }

  /** Keeps a grant that the service has renewed. */
  renewed(_: LeaseResource, grant: Grant, { sentAt }: ServiceRenewal): Promise<RenewOutcome> {
    this.#own.set(grant.name, { grant, sentAt })
    return Promise.resolve({ renewed: true })
  }

  /** The record of a grant of this store, with its holder and the time left by the local clock. Other holders are unknown. */
  async recordOf(
    resource: LeaseResource,
    name: string,
    found: Found,
    signal: AbortSignal,
  ): Promise<LeaseRecord | undefined> {
    const record = toRecord(name, undefined, found)
    const own = this.#own.get(name)
    if (record === undefined || own === undefined || !isLocked(found)) return record
    if ((await resource.findUnder(own.grant.grantId, signal)) === undefined) return record
    const { grantId, owner, fencingToken, ttl } = own.grant
    const known = { ...record, grantId, owner, fencingToken, ttl }
    if (found.state !== 'leased') return known
    return { ...known, remaining: Math.max(0, own.sentAt + ttl - this.#clock.now()) }
  }

  async #make(resource: LeaseResource, name: string, abortSignal: AbortSignal): Promise<undefined> {
    if (!this.#create) throw createIsOff(resource.kind, name)
    await resource.make(abortSignal)
  }

  /** `date`: the service's time of the answer that granted the lease. */
  async #confirmed(
    resource: LeaseResource,
    granted: Omit<Grant, 'fencingToken'>,
    { sentAt, date }: { readonly sentAt: number; readonly date: Date | undefined },
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    if (date === undefined) throw new TypeError('the answer of the service has no time')
    let found: Found | undefined
    do {
      await settling(this.#clock, call)
      found = await resource.findUnder(granted.grantId, call.signal)
      // The lease was broken, or the blob or container deleted, within the second.
      if (found === undefined) return undefined
    } while (found.date.getTime() <= date.getTime())
    const grant = { ...granted, fencingToken: BigInt(date.getTime()) }
    this.#own.set(grant.name, { grant, sentAt })
    return { granted: true, grant: { ...grant, ...(found.etag !== '' && { etag: found.etag }) } }
  }
}
