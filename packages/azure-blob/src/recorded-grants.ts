import { isDeepStrictEqual } from 'node:util'
import type { LeaseOperationOptions } from '@azure/storage-blob'
import { type Clock, type Grant, isLocked, type LeaseRecord, type Metadata } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, RenewOutcome, StoreCall } from '@leasehold/core/store'
import {
  endOfSecond,
  GRANTED_AGAIN,
  isSettled,
  KNOWN_NAMES,
  RecentMap,
  settling,
  withoutBreakReason,
} from '@leasehold/core/store-kit'
import { type AzureBlobConditions, requireMet } from './conditions.js'
import { createIsOff } from './failure-of.js'
import { LastWrites } from './last-writes.js'
import { type Found, holderOf, type LeaseResource } from './lease-resource.js'
import { isLeaseConflict, isRefusal, isStatus, type ServiceRenewal } from './service-answer.js'
import { grantIn, type StoredGrant, toRecord, toSeconds, withGrant } from './stored-grant.js'

interface SeenGrant extends Pick<Grant, 'grantId' | 'fencingToken'> {
  readonly etag: string | undefined
}

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })

/**
 * Grants with a record, in the metadata of the blob or container. A grant is reported once its record is written, under the
 * lease and only if nothing was written since the last look.
 */
export class RecordedGrants {
  readonly hasRecords = true
  readonly #create: boolean
  readonly #clock: Clock
  readonly #writes = new LastWrites()
  /** The grants whose records this store has written or seen, with the ETag at that time, by lease name. */
  readonly #seen = new RecentMap<SeenGrant>(KNOWN_NAMES)

  constructor(create: boolean, clock: Clock) {
    this.#create = create
    this.#clock = clock
  }

  /** Resolves with `undefined` if another writer was faster: the caller has to try again. */
  async acquire(
    resource: LeaseResource,
    request: AcquireRequest,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const { name, owner, grantId, ttl, ifMatch } = request
    const isOnContainer = resource.kind === 'container'
    let found = await resource.find(call.signal)
    if (found === undefined && !this.#create) throw createIsOff(resource.kind, name)
    found ??= await resource.make(call.signal)
    if (found === undefined) return undefined
    const stored = grantIn(name, found.metadata)
    const isRepeated = found.state === 'leased' && stored?.grantId === grantId
    if (ifMatch !== undefined && !isRepeated) requireMet(name, { ifMatch }, found)
    // Within this second, an older record may have been restored over a grant of this second. On a container, another write
    // in this second would not be noticed either.
    if (!isRepeated && (isOnContainer ? !isSettled(found) : this.#writes.mayHaveReturned(name, found))) {
      if (isOnContainer && isLocked(found) && stored !== undefined) return { granted: false, ...holderOf(name, found) }
      // A locked name is refused without a pause, unless the lease is ours already: see #grant.
      if (isOnContainer || !isLocked(found)) {
        await settling(this.#clock, call)
        // Another write of the same second has the same time: only a look after that second shows the last one.
        if (isOnContainer) return undefined
        // The lease is taken only if nothing is written in between.
        found = { ...found, date: endOfSecond(found) }
      }
    }
    const fencingToken = isRepeated ? stored.fencingToken : this.#writes.nextToken(name, found, stored)
    const kept = isRepeated ? stored.metadata : withoutBreakReason(stored?.metadata ?? {})
    const metadata = request.metadata ?? kept
    // Until the new record is written, the old one stays, with the last holder: a crash in between loses nothing.
    const previous = isRepeated ? stored.previous : stored?.metadata
    const grantedAt = isRepeated ? stored.grantedAt : found.date.getTime()
    const known = { ...(previous && { previous }), ...(grantedAt !== undefined && { grantedAt }) }
    const grant = { name, owner, grantId, ttl, metadata, fencingToken, ...known }
    const isWritten = isRepeated && stored.ttl === ttl && isDeepStrictEqual(metadata, stored.metadata)
    // Also tried when the name is held: an earlier request of ours may have taken the lease without a record.
    return await this.#grant(resource, found, grant, isWritten, call, (options) =>
      resource.leaseClient(grantId).acquireLease(toSeconds(ttl), options),
    )
  }

  /** Like `acquire`, but changes the holder. Rejects with a `LeaseConflictError` if a condition is not met. */
  async change(
    resource: LeaseResource,
    held: Grant,
    to: Pick<Grant, 'grantId' | 'owner'>,
    call: StoreCall,
    conditions?: AzureBlobConditions,
  ): Promise<AcquireOutcome | undefined> {
    const { name, grantId } = held
    const found = await resource.find(call.signal)
    const stored = found && grantIn(name, found.metadata)
    if (found === undefined || stored === undefined) return { granted: false, ...holderOf(name, found) }
    const isRepeated = stored.grantId === to.grantId
    if (conditions !== undefined && !isRepeated) requireMet(name, conditions, found)
    const fresh = { ...to, previous: stored.metadata, fencingToken: this.#writes.nextToken(name, found, stored) }
    const grant = isRepeated ? stored : { ...stored, ...fresh, grantedAt: found.date.getTime() }
    const outcome = await this.#grant(resource, found, grant, isRepeated, call, (options) =>
      resource.leaseClient(grantId).changeLease(to.grantId, options),
    )
    // A change does not renew the lease: this renewal starts a whole ttl.
    if (outcome?.granted) await resource.leaseClient(to.grantId).renewLease({ abortSignal: call.signal })
    return outcome
  }

  /**
   * Looks at the record of a grant that the service has renewed, if something was written since the last look: a late
   * duplicate of a claim can be granted again, under the same id. `etag`: that of the service's answer.
   */
  async renewed(
    resource: LeaseResource,
    grant: Grant,
    { etag }: ServiceRenewal,
    call: StoreCall,
  ): Promise<RenewOutcome> {
    const { name, grantId, fencingToken } = grant
    const seen = this.#seen.get(name)
    const isSeen = seen?.grantId === grantId && seen.fencingToken <= fencingToken
    if (isSeen && etag !== undefined && seen.etag === etag) return RENEWED
    const found = await resource.find(call.signal)
    const stored = found && grantIn(name, found.metadata)
    if (stored?.grantId === grantId && stored.fencingToken > fencingToken) return GRANTED_AGAIN
    this.#seen.set(name, { grantId, fencingToken, etag: found?.etag })
    return RENEWED
  }

  async recordOf(
    resource: LeaseResource,
    name: string,
    found: Found,
    signal: AbortSignal,
  ): Promise<LeaseRecord | undefined> {
    const stored = grantIn(name, found.metadata)
    if (stored === undefined || !isLocked(found)) return toRecord(name, stored, found)
    // Between the lease and the write of the record, the record is that of the last holder.
    const isInForce = (await resource.findUnder(stored.grantId, signal)) !== undefined
    return toRecord(name, isInForce ? stored : undefined, found)
  }

  /** Replaces the metadata of a grant under its lease; `false` if another writer was faster. */
  async writeMetadata(
    resource: LeaseResource,
    grant: Grant,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<boolean> {
    const found = await resource.find(signal)
    if (found === undefined) return false
    const stored = this.#storedOf(grant, found)
    // A later grant was written since the renewal.
    if (stored.fencingToken > grant.fencingToken) return false
    return await this.#rewrite(resource, found, { ...stored, metadata }, signal)
  }

  /** Raises the token of a grant under its lease; `false` if another writer was faster. */
  async raiseToken(resource: LeaseResource, grant: Grant, fencingToken: bigint, signal: AbortSignal): Promise<boolean> {
    const found = await resource.find(signal)
    if (found === undefined) return false
    const stored = this.#storedOf(grant, found)
    if (stored.fencingToken >= fencingToken) return true
    return await this.#rewrite(resource, found, { ...stored, fencingToken }, signal)
  }

  /** The grant as it is recorded, or without metadata if its record was removed. */
  #storedOf(grant: Grant, found: Found): StoredGrant {
    const stored = grantIn(grant.name, found.metadata)
    return stored?.grantId === grant.grantId ? stored : { ...grant, metadata: {} }
  }

  /** Writes the record of a grant under its lease, if nothing was written since `found`. */
  async #rewrite(resource: LeaseResource, found: Found, stored: StoredGrant, signal: AbortSignal): Promise<boolean> {
    const { name, grantId, fencingToken } = stored
    const written = await resource.write(withGrant(found.metadata, stored), grantId, found, signal)
    if (this.#writes.has(name, found)) this.#writes.set(name, written?.etag)
    if (written !== undefined) this.#seen.set(name, { grantId, fencingToken, etag: written.etag })
    return written !== undefined
  }

  /**
   * Takes the lease by `take`, if nothing was written since `found`, and writes the record of the grant unless it is written
   * already. Resolves with `undefined` if another writer was faster.
   */
  async #grant(
    resource: LeaseResource,
    found: Found,
    grant: StoredGrant,
    isWritten: boolean,
    call: StoreCall,
    take: (options: LeaseOperationOptions) => Promise<unknown>,
  ): Promise<AcquireOutcome | undefined> {
    const { name, owner, grantId, fencingToken, ttl, previous } = grant
    const record = withGrant(found.metadata, grant)
    const abortSignal = call.signal
    try {
      await take({ conditions: resource.unwritten(found), abortSignal })
    } catch (error) {
      if (isStatus(error, 412) || isStatus(error, 404)) return undefined
      if (!isLeaseConflict(error)) throw error
      return { granted: false, ...holderOf(name, found) }
    }
    const outcomeAt = (etag: string | undefined): AcquireOutcome => {
      const granted = { name, owner, grantId, fencingToken, ttl, ...(etag === undefined ? {} : { etag }) }
      return { granted: true, grant: granted, ...(previous && { previous }) }
    }
    if (isWritten) return outcomeAt(found.etag)
    // The token is that of the next second, which has to begin before the record is written.
    if (this.#writes.mayHaveReturned(name, found)) await settling(this.#clock, call)
    try {
      const written = await resource.write(record, grantId, found, abortSignal)
      this.#writes.set(name, written?.etag)
      if (written !== undefined) this.#seen.set(name, { grantId, fencingToken, etag: written.etag })
      return written && outcomeAt(written.etag)
    } catch (error) {
      // A lease without a record would have no known owner: it is released.
      if (isRefusal(error))
        await resource
          .leaseClient(grantId)
          .releaseLease({ abortSignal })
          .catch(() => {})
      throw error
    }
  }
}
