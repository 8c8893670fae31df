import { isDeepStrictEqual } from 'node:util'
import type { BlobServiceClient, BlockBlobClient, ContainerClient, LeaseOperationOptions } from '@azure/storage-blob'
import {
  type Clock,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  anotherGrant,
  type BreakOptions,
  checkLeaseName,
  checkOptionNames,
  inRounds,
  nothingToBreak,
  RecentMap,
  type ReleaseOutcome,
  type RenewOutcome,
  type RenewRefusal,
  type StoreCall,
  StoreChecks,
  withoutBreakReason,
} from '@leasehold/core/store'
import { type AzureBlobLeaseStoreOptions, storeOptionNames } from './azure-blob-options.js'
import { type AzureBlobOperation, ClientRequestIds } from './client-request-ids.js'
import { createIsOff, failureOf } from './failure-of.js'
import { LastWrites } from './last-writes.js'
import { type Found, holderOf, type LeaseResource } from './lease-resource.js'
import { LeaseResources } from './lease-resources.js'
import { codeOf, isLeaseConflict, isRefusal, isStatus } from './service-answer.js'
import { grantIn, isLocked, METADATA_ROOM, type StoredGrant, toRecord, toSeconds, withGrant } from './stored-grant.js'
import { otherVersion, UnrecordedGrants } from './unrecorded-grants.js'
import { endOfSecond, isSettled, KNOWN_NAMES, settling } from './write-time.js'

/** The service's limits for the ttl of a lease that expires, in milliseconds. */
const SHORTEST = 15_000
const LONGEST = 60_000

/**
 * Leases over the native leases of Azure Blob Storage: one blob per name in the given container, or one container per name
 * in the account of the given service client. The service times them: 15 to 60 s, or infinite. Owner, fencing token and
 * metadata are in the metadata of the blob, written under its lease, unless `metadata` is `false`. The content of the blob is never touched.
 */
export class AzureBlobLeaseStore implements LeaseStore {
  readonly kind = 'azure-blob'
  readonly limits: StoreLimits
  readonly #resources: LeaseResources
  readonly #create: boolean
  readonly #clock: Clock
  readonly #checks: StoreChecks
  /** Absent if the ids are those of the SDK. */
  readonly #requestIds: ClientRequestIds<LeaseResources> | undefined
  /** Absent if grants have records. */
  readonly #unrecorded: UnrecordedGrants | undefined
  /** The ETags of the blobs at the last releases, by grant id. */
  readonly #released = new RecentMap<string>(KNOWN_NAMES)
  readonly #writes = new LastWrites()

  /** Uses the caller's client, with its credentials, retries and proxies. `close` leaves the client open. */
  constructor(client: ContainerClient | BlobServiceClient, options: AzureBlobLeaseStoreOptions = {}) {
    checkOptionNames('AzureBlobLeaseStore', options, storeOptionNames, { store: this.kind })
    const { names = 'escaped', metadata = true, prefix, clock = systemClock } = options
    const { create = names === 'escaped', clientRequestId } = options
    const naming = { names, prefix, isRecorded: metadata }
    this.#resources = new LeaseResources(client, naming)
    if (clientRequestId !== undefined) {
      this.#requestIds = new ClientRequestIds(clientRequestId, client, (own) => new LeaseResources(own, naming))
    }
    this.#create = create
    this.#clock = clock
    this.#unrecorded = metadata ? undefined : new UnrecordedGrants(create, clock)
    this.limits = {
      minTtl: SHORTEST,
      maxTtl: LONGEST,
      infinite: true,
      ordered: false,
      metadata: metadata ? METADATA_ROOM : 0,
      versions: !('getContainerClient' in client),
    }
    this.#checks = new StoreChecks(this.kind, this.limits)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl } = request
    this.#checks.acquire(request, call)
    this.#checks.guid(grantId, name)
    return await this.#inRounds('acquire', name, call, async (resource, signal) => {
      if (this.#unrecorded !== undefined) return await this.#unrecorded.acquire(resource, request, call)
      const isOnContainer = resource.blob === undefined
      let found = await resource.find(signal)
      if (found === undefined && !this.#create) throw createIsOff(resource.kind, name)
      found ??= await resource.make(signal)
      if (found === undefined) return undefined
      const stored = grantIn(name, found.metadata)
      const isRepeated = found.state === 'leased' && stored?.grantId === grantId
      if (request.ifMatch !== undefined && request.ifMatch !== found.etag && !isRepeated)
        throw otherVersion(name, request.ifMatch)
      // An older record may have returned within this second, over a grant of this second. On a container, another write
      // in this second would not be noticed either.
      if (!isRepeated && (isOnContainer ? !isSettled(found) : this.#writes.mayHaveReturned(name, found))) {
        if (isOnContainer && isLocked(found.state) && stored !== undefined)
          return { granted: false, ...holderOf(name, found) }
        // A locked name is refused without a pause, unless the lease is ours already: see #grant.
        if (isOnContainer || !isLocked(found.state)) {
          await settling(this.#clock, call)
          // The lease is taken only if nothing is written in between.
          found = { ...found, date: endOfSecond(found) }
        }
      }
      const fencingToken = isRepeated ? stored.fencingToken : this.#writes.nextToken(name, found, stored)
      const kept = isRepeated ? stored.metadata : withoutBreakReason(stored?.metadata ?? {})
      const metadata = request.metadata ?? kept
      // Until the record is written, it is that of the last holder: a crash in between loses nothing.
      const previous = isRepeated ? stored.previous : stored?.metadata
      const grantedAt = isRepeated ? stored.grantedAt : found.date.getTime()
      const known = { ...(previous && { previous }), ...(grantedAt !== undefined && { grantedAt }) }
      const grant = { name, owner, grantId, ttl, metadata, fencingToken, ...known }
      const isWritten = isRepeated && stored.ttl === ttl && isDeepStrictEqual(metadata, stored.metadata)
      // Also tried when the name is held: an earlier request of ours may have taken the lease without a record.
      return await this.#grant(resource, found, grant, isWritten, call, (options) =>
        resource.leaseClient(grantId).acquireLease(toSeconds(ttl), options),
      )
    })
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return await this.#inRounds('renew', grant.name, call, (resource, signal) => this.#renew(resource, grant, signal))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#inRounds('update', grant.name, call, async (resource, signal) => {
      const outcome = await this.#renew(resource, grant, signal)
      if (!outcome.renewed || this.#unrecorded !== undefined) return outcome
      return (await this.#writeMetadata(resource, grant, metadata, signal)) ? outcome : undefined
    })
  }

  /** With metadata it takes three more requests: the record is written under the renewed lease before the release. */
  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    this.#checks.release(grant, call, metadata)
    return await this.#inRounds(
      'release',
      name,
      call,
      async (resource, signal): Promise<ReleaseOutcome | undefined> => {
        if (metadata !== undefined && this.#unrecorded === undefined) {
          const outcome = await this.#renew(resource, grant, signal)
          if (!outcome.renewed) return { released: false, ...(outcome.holder && { holder: outcome.holder }) }
          if (!(await this.#writeMetadata(resource, grant, metadata, signal))) return undefined
        }
        try {
          const { etag } = await resource.leaseClient(grantId).releaseLease({ abortSignal: signal })
          if (etag !== undefined && resource.blob !== undefined) this.#released.set(grantId, etag)
          return { released: true }
        } catch (error) {
          if (isStatus(error, 404)) return { released: false }
          if (!isLeaseConflict(error)) throw error
          return { released: false, ...holderOf(name, await resource.find(signal)) }
        }
      },
    )
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    // In a list, because an outcome of `undefined` starts another round.
    const [record] = await this.#inRounds('read', name, call, async (resource, signal) => {
      const found = await resource.find(signal)
      if (found === undefined) return [undefined]
      const stored = grantIn(name, found.metadata)
      if (stored === undefined || !isLocked(found.state)) return [toRecord(name, stored, found.state)]
      // Between the lease and the write of the record, the record is that of the last holder.
      const isInForce = (await resource.findUnder(stored.grantId, signal)) !== undefined
      return [toRecord(name, isInForce ? stored : undefined, found.state)]
    })
    return record
  }

  /**
   * Yields the records as last written. `read` asks the service in addition whether the lease in force is that of the
   * record: between taking a lease and writing its record, or if its holder crashed in between, a listing shows the last
   * holder as the holder. Names of more than letters, digits, `-` and `_` are listed once this version has written them.
   */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    this.#checks.usable(call)
    try {
      const resources = (await this.#requestIds?.mark(call.signal, { operation: 'list' })) ?? this.#resources
      for await (const { name, metadata, state } of resources.list(prefix, call.signal)) {
        const record = toRecord(name, grantIn(name, metadata), state)
        if (record !== undefined) yield record
        this.#checks.usable(call)
      }
    } catch (error) {
      throw failureOf('list', undefined, error)
    }
  }

  async change(held: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId } = held
    this.#checks.change(held, to, call)
    this.#checks.guid(to.grantId, name)
    return await this.#inRounds('change', name, call, async (resource, signal) => {
      if (this.#unrecorded !== undefined) return await this.#unrecorded.change(resource, held, to, call)
      const found = await resource.find(signal)
      const stored = found && grantIn(name, found.metadata)
      if (found === undefined || stored === undefined) return { granted: false, ...holderOf(name, found) }
      const isRepeated = stored.grantId === to.grantId
      const fresh = { ...to, previous: stored.metadata, fencingToken: this.#writes.nextToken(name, found, stored) }
      const grant = isRepeated ? stored : { ...stored, ...fresh, grantedAt: found.date.getTime() }
      const outcome = await this.#grant(resource, found, grant, isRepeated, call, (options) =>
        resource.leaseClient(grantId).changeLease(to.grantId, options),
      )
      // A change does not renew the lease: this renewal starts a whole ttl.
      if (outcome?.granted) await resource.leaseClient(to.grantId).renewLease({ abortSignal: signal })
      return outcome
    })
  }

  /**
   * The service counts in whole seconds: a period is rounded up. It breaks no lease by its id: with a `grantId`, the lease is
   * broken if it was that of the grant just before and nothing was written since, or a successor had no record yet.
   */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    this.#checks.break(name, options, call)
    const { period, reason, grantId } = options
    if (period !== undefined && period > LONGEST) {
      const message = `the break period must be 0 to ${LONGEST} ms, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    return await this.#inRounds('break', name, call, async (resource, signal) => {
      const isAny = grantId === undefined
      const found = isAny ? await resource.find(signal) : await resource.findUnder(grantId, signal)
      if (!isAny && found === undefined) throw anotherGrant(name, this.kind)
      if (found === undefined || found.state === 'available') throw nothingToBreak(name, this.kind)
      const stored = grantIn(name, found.metadata)
      // For a container, the condition on the lease id is not checked everywhere.
      if (!isAny && stored !== undefined && stored.grantId !== grantId) throw anotherGrant(name, this.kind)
      if (reason !== undefined && stored !== undefined && isLocked(found.state)) {
        // For information only: the lease is also broken if another writer is faster.
        const record = { ...stored, metadata: { ...stored.metadata, breakReason: reason } }
        await resource.write(withGrant(found.metadata, record), stored.grantId, found, signal)
      }
      const seconds = toSeconds(period ?? (found.infinite ? 0 : LONGEST))
      try {
        const client = resource.leaseClient(stored?.grantId ?? '')
        // A reason was written into the record just now, so the record is not as found.
        const conditions = isAny || reason !== undefined ? {} : { conditions: resource.unwritten(found) }
        const { leaseTime = 0 } = await client.breakLease(seconds, { abortSignal: signal, ...conditions })
        return { remaining: leaseTime * 1_000 }
      } catch (error) {
        if (!isAny && isStatus(error, 412)) return undefined
        if (isLeaseConflict(error) || isStatus(error, 404)) throw nothingToBreak(name, this.kind)
        throw error
      }
    })
  }

  /**
   * The client of the blob with the lease of a name, for its content: see `AzureBlobLease.conditions`. Throws a
   * `LeaseConfigurationError` if leases are on containers.
   */
  blobOf(name: string): BlockBlobClient {
    checkLeaseName(name)
    const { blob } = this.#resources.of(name)
    if (blob !== undefined) return blob
    const message = 'these leases are on containers: they have no blob'
    throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
  }

  /** The ETag that the blob had when the grant with this id was released by this store; `undefined` if unknown. */
  etagAtRelease(grantId: string): string | undefined {
    return this.#released.get(grantId)
  }

  async close(): Promise<void> {
    this.#checks.close()
  }

  /** Repeats an operation when another writer was faster; turns every failure into a typed error. */
  async #inRounds<T>(
    operation: AzureBlobOperation['operation'],
    name: string,
    call: StoreCall,
    round: (resource: LeaseResource, signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T> {
    const resources = (await this.#requestIds?.mark(call.signal, { operation, leaseName: name })) ?? this.#resources
    const resource = resources.of(name)
    return await inRounds(name, { leaseName: name, store: this.kind }, async () => {
      this.#checks.usable(call)
      try {
        return await round(resource, call.signal)
      } catch (error) {
        throw failureOf(operation, name, error)
      }
    })
  }

  async #renew(resource: LeaseResource, grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    const { name, grantId } = grant
    try {
      const { leaseId = grantId } = await resource.leaseClient(grantId).renewLease({ abortSignal: signal })
      // Azurite renews an expired lease under any id, and answers with the id of the lease.
      if (leaseId.toLowerCase() === grantId.toLowerCase()) return { renewed: true }
      return { renewed: false, reason: 'taken', ...holderOf(name, await resource.find(signal)) }
    } catch (error) {
      if (isStatus(error, 404)) return { renewed: false, reason: 'deleted' }
      if (!isLeaseConflict(error)) throw error
      const found = await resource.find(signal)
      return { renewed: false, reason: reasonOf(error, grant, found), ...holderOf(name, found) }
    }
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
      const version = resource.blob === undefined || etag === undefined ? {} : { etag }
      const granted = { name, owner, grantId, fencingToken, ttl, ...version }
      return { granted: true, grant: granted, ...(previous && { previous }) }
    }
    if (isWritten) return outcomeAt(found.etag)
    // The token is already that of the next second.
    if (this.#writes.mayHaveReturned(name, found)) await settling(this.#clock, call)
    try {
      const written = await resource.write(record, grantId, found, abortSignal)
      this.#writes.set(name, written?.etag)
      return written && outcomeAt(written.etag)
    } catch (error) {
      // No owner knows of a lease without a record.
      if (isRefusal(error))
        await resource
          .leaseClient(grantId)
          .releaseLease({ abortSignal })
          .catch(() => {})
      throw error
    }
  }

  /** Replaces the metadata of a grant under its lease; `false` if another writer was faster. */
  async #writeMetadata(
    resource: LeaseResource,
    grant: Grant,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<boolean> {
    const found = await resource.find(signal)
    if (found === undefined) return false
    const stored = grantIn(grant.name, found.metadata)
    const kept = stored?.grantId === grant.grantId ? stored : grant
    const record = withGrant(found.metadata, { ...kept, metadata })
    const written = await resource.write(record, grant.grantId, found, signal)
    if (this.#writes.has(grant.name, found)) this.#writes.set(grant.name, written?.etag)
    return written !== undefined
  }
}

/** `error`: the lease conflict with which the service answered the renewal. */
function reasonOf(error: unknown, { name, grantId }: Grant, found: Found | undefined): RenewRefusal {
  if (found === undefined) return 'deleted'
  if (codeOf(error) === 'LeaseIsBrokenAndCannotBeRenewed') return 'broken'
  const stored = grantIn(name, found.metadata)
  return isLocked(found.state) || (stored !== undefined && stored.grantId !== grantId) ? 'taken' : 'expired'
}
