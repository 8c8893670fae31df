import { type Clock, type Grant, LeaseConflictError } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, StoreCall } from '@leasehold/core/store'
import { createIsOff } from './failure-of.js'
import { holderOf, type LeaseResource } from './lease-resource.js'
import { isLeaseConflict, isStatus } from './service-answer.js'
import { toSeconds } from './stored-grant.js'
import { settling } from './write-time.js'

/**
 * Grants without a record: the leases of the service, and nothing is written. The fencing token is the service's time, in
 * whole seconds. A grant is reported only after that second is over and the lease is still in force. Therefore no two grants
 * of a name have the same second.
 */
export class UnrecordedGrants {
  readonly #create: boolean
  readonly #clock: Clock

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
    const conditions = ifMatch === undefined ? {} : { conditions: { ifMatch } }
    const abortSignal = call.signal
    try {
      const answer = await resource.leaseClient(grantId).acquireLease(toSeconds(ttl), { ...conditions, abortSignal })
      return await this.#confirmed(resource, { name, owner, grantId, ttl }, answer.date, call)
    } catch (error) {
      if (isStatus(error, 412) && ifMatch !== undefined) throw otherVersion(name, ifMatch)
      if (isStatus(error, 404)) return await this.#make(resource, name, abortSignal)
      if (!isLeaseConflict(error)) throw error
      return { granted: false, ...holderOf(name, await resource.find(abortSignal)) }
    }
  }

  async change(
    resource: LeaseResource,
    { name, grantId, ttl }: Grant,
    to: Pick<Grant, 'grantId' | 'owner'>,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const abortSignal = call.signal
    try {
      const answer = await resource.leaseClient(grantId).changeLease(to.grantId, { abortSignal })
      // A change does not renew the lease: this renewal starts a whole ttl.
      await resource.leaseClient(to.grantId).renewLease({ abortSignal })
      return await this.#confirmed(resource, { name, ...to, ttl }, answer.date, call)
    } catch (error) {
      if (!isLeaseConflict(error) && !isStatus(error, 404)) throw error
      return { granted: false, ...holderOf(name, await resource.find(abortSignal)) }
    }
  }

  async #make(resource: LeaseResource, name: string, abortSignal: AbortSignal): Promise<undefined> {
    if (!this.#create) throw createIsOff(resource.kind, name)
    await resource.make(abortSignal)
  }

  /** `date`: the service's time of the answer that granted the lease. */
  async #confirmed(
    resource: LeaseResource,
    grant: Omit<Grant, 'fencingToken'>,
    date: Date | undefined,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    if (date === undefined) throw new TypeError('the answer of the service has no time')
    let found: Awaited<ReturnType<LeaseResource['findUnder']>>
    do {
      await settling(this.#clock, call)
      found = await resource.findUnder(grant.grantId, call.signal)
      // Broken, or deleted, within the second.
      if (found === undefined) return undefined
    } while (found.date.getTime() <= date.getTime())
    const version = resource.blob === undefined ? {} : { etag: found.etag }
    return { granted: true, grant: { ...grant, fencingToken: BigInt(date.getTime()), ...version } }
  }
}

/** The error for a blob that was written since the given version. */
export function otherVersion(leaseName: string, ifMatch: string): LeaseConflictError {
  return new LeaseConflictError(
    `the blob of lease '${leaseName}' has changed since version ${ifMatch}: read it, and acquire with its new ETag`,
    { leaseName, store: 'azure-blob' },
  )
}
