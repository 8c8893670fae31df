import type { BlobServiceClient, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type Clock,
  type Grant,
  isLocked,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  systemClock,
} from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  checkLeaseName,
  type ReleaseOutcome,
  type RenewOutcome,
  type RenewRefusal,
  type StoreCall,
  StoreChecks,
  type StoreLimits,
} from '@leasehold/core/store'
import { checkOptionNames, inRounds, KNOWN_NAMES, RecentMap, raisedTo } from '@leasehold/core/store-kit'
import { type AzureBlobLeaseStoreOptions, storeOptionNames } from './azure-blob-options.js'
import { type AzureBlobOperation, ClientRequestIds } from './client-request-ids.js'
import { type AzureBlobConditions, checkConditions, conditionalOn } from './conditions.js'
import { failureOf } from './failure-of.js'
import { breakIn } from './lease-break.js'
import { type Found, holderOf, type LeaseResource } from './lease-resource.js'
import { LeaseResources } from './lease-resources.js'
import { RecordedGrants } from './recorded-grants.js'
import { codeOf, isLeaseConflict, isStatus, isUnmet } from './service-answer.js'
import { grantIn, METADATA_ROOM, toRecord } from './stored-grant.js'
import { UnrecordedGrants } from './unrecorded-grants.js'

/** The service's limits for the ttl of a lease that expires, in milliseconds. */
const SHORTEST = 15_000
const LONGEST = 60_000

/**
 * Leases over the native leases of Azure Blob Storage: one blob per name in the given container, or one container per name
 * in the account of the given service client. The service keeps their time: 15 to 60 s, or infinite. Owner, fencing token
 * and metadata are in the metadata of the blob, written under its lease, unless `metadata` is `false`. The content of the
 * blob is never touched.
 */
export class AzureBlobLeaseStore implements LeaseStore {
  readonly kind = 'azure-blob'
  readonly limits: StoreLimits
  /**
   * Writes the token into the record of the name, from which later grants count on. The raise is lost if the blob or container
   * is deleted, or its metadata removed, or replaced by an older copy. `undefined` without records (`metadata: false`).
   */
  readonly raiseToken?: NonNullable<LeaseStore['raiseToken']>
  readonly #resources: LeaseResources
  readonly #clock: Clock
  readonly #checks: StoreChecks
  /** `undefined` if the SDK makes the ids. */
  readonly #requestIds: ClientRequestIds<LeaseResources> | undefined
  readonly #grants: RecordedGrants | UnrecordedGrants
  /** The ETags of the blobs at the last releases, by grant id. */
  readonly #released = new RecentMap<string>(KNOWN_NAMES)

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
    this.#clock = clock
    if (metadata) {
      const recorded = new RecordedGrants(create, clock)
      this.#grants = recorded
      this.raiseToken = (grant, token, call) => this.#raiseToken(recorded, grant, token, call)
    } else {
      this.#grants = new UnrecordedGrants(create, clock)
    }
    this.limits = {
      minTtl: SHORTEST,
      maxTtl: LONGEST,
      infinite: true,
      ordered: false,
      metadata: metadata ? METADATA_ROOM : 0,
      versions: true,
    }
    this.#checks = new StoreChecks(this.kind, this.limits)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId } = request
    this.#checks.acquire(request, call)
    this.#checks.guid(grantId, name)
    return await this.#inRounds('acquire', name, call, (resource) => this.#grants.acquire(resource, request, call))
  }

  /** With `conditions`: rejects with a `LeaseConflictError`, and renews nothing, unless they are met. */
  async renew(grant: Grant, call: StoreCall, conditions?: AzureBlobConditions): Promise<RenewOutcome> {
    const { name } = grant
    this.#checks.grant(grant, call)
    checkConditions(conditions, { leaseName: name })
    return await this.#inRounds('renew', name, call, (resource) => this.#renew(resource, grant, call, conditions))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#inRounds('update', grant.name, call, async (resource, signal) => {
      const outcome = await this.#renew(resource, grant, call)
      if (outcome?.renewed !== true || !this.#grants.hasRecords) return outcome
      return (await this.#grants.writeMetadata(resource, grant, metadata, signal)) ? outcome : undefined
    })
  }

  /**
   * With `metadata`, a release takes three more requests: the record is written under the renewed lease before it. With
   * `conditions`: rejects with a `LeaseConflictError`, and releases nothing, unless they are met.
   */
  async release(
    grant: Grant,
    call: StoreCall,
    metadata?: Metadata,
    conditions?: AzureBlobConditions,
  ): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    this.#checks.release(grant, call, metadata)
    checkConditions(conditions, { leaseName: name })
    // The metadata is written by a request of its own, after which a condition such as `ifMatch` is not met any more.
    let isWritten = false
    return await this.#inRounds(
      'release',
      name,
      call,
      async (resource, signal): Promise<ReleaseOutcome | undefined> => {
        if (metadata !== undefined && this.#grants.hasRecords) {
          const outcome = await this.#renew(resource, grant, call, isWritten ? undefined : conditions)
          if (outcome === undefined) return undefined
          // A later grant under the same id keeps its metadata.
          const isLater = !outcome.renewed && outcome.left === true
          if (!outcome.renewed && !isLater) {
            return { released: false, ...(outcome.holder && { holder: outcome.holder }) }
          }
          if (!isLater && !(await this.#grants.writeMetadata(resource, grant, metadata, signal))) return undefined
          isWritten = !isLater
        }
        const options = await conditionalOn(resource, name, isWritten ? undefined : conditions, this.#clock, call)
        if (options === undefined) return undefined
        try {
          const { etag } = await resource.leaseClient(grantId).releaseLease(options)
          if (etag !== undefined) this.#released.set(grantId, etag)
          return { released: true }
        } catch (error) {
          if (isUnmet(error, options)) return undefined
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
      return [found && (await this.#grants.recordOf(resource, name, found, signal))]
    })
    return record
  }

  /**
   * Yields the records as they were last written. Only `read` also asks the service whether the lease in force is that of
   * the record. After a lease is taken and before its record is written, or if its holder crashed in between, a listing
   * still shows the last holder. Names with other characters than letters, digits, `-` and `_` are listed once this version
   * has written them.
   */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    this.#checks.usable(call)
    try {
      const resources = (await this.#requestIds?.mark(call.signal, { operation: 'list' })) ?? this.#resources
      for await (const { name, metadata, ...status } of resources.list(prefix, call.signal)) {
        const record = toRecord(name, grantIn(name, metadata), status)
        if (record !== undefined) yield record
        this.#checks.usable(call)
      }
    } catch (error) {
      throw failureOf('list', undefined, error)
    }
  }

  /** With `conditions`: rejects with a `LeaseConflictError`, and changes nothing, unless they are met. */
  async change(
    held: Grant,
    to: Pick<Grant, 'grantId' | 'owner'>,
    call: StoreCall,
    conditions?: AzureBlobConditions,
  ): Promise<AcquireOutcome> {
    const { name } = held
    this.#checks.change(held, to, call)
    this.#checks.guid(to.grantId, name)
    checkConditions(conditions, { leaseName: name })
    return await this.#inRounds('change', name, call, (resource) =>
      this.#grants.change(resource, held, to, call, conditions),
    )
  }

  /**
   * The service counts in whole seconds: a period is rounded up. It cannot break a lease by its id. With a `grantId`, the
   * lease is broken if it was that of the grant just before and nothing was written since, or if a successor had no record
   * yet. With `conditions`: rejects with a `LeaseConflictError`, and breaks nothing, unless they are met.
   */
  async break(
    name: string,
    options: BreakOptions & { readonly conditions?: AzureBlobConditions | undefined },
    call: StoreCall,
  ): Promise<{ readonly remaining: number }> {
    this.#checks.break(name, options, call)
    checkConditions(options.conditions, { leaseName: name })
    const { period } = options
    if (period !== undefined && period > LONGEST) {
      const message = `the break period must be 0 to ${LONGEST} ms, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    return await this.#inRounds('break', name, call, (resource) =>
      breakIn(resource, { ...options, name, longest: LONGEST, clock: this.#clock }, call),
    )
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

  async #raiseToken(recorded: RecordedGrants, grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#inRounds('raise', grant.name, call, async (resource, signal) => {
      const outcome = await this.#renew(resource, raisedTo(grant, token), call)
      if (outcome?.renewed !== true) return outcome
      return (await recorded.raiseToken(resource, grant, token, signal)) ? outcome : undefined
    })
  }

  /** Resolves with `undefined` if another writer was faster. */
  async #renew(
    resource: LeaseResource,
    grant: Grant,
    call: StoreCall,
    conditions?: AzureBlobConditions,
  ): Promise<RenewOutcome | undefined> {
    const { name, grantId } = grant
    const options = await conditionalOn(resource, name, conditions, this.#clock, call)
    if (options === undefined) return undefined
    const sentAt = this.#clock.now()
    try {
      const { leaseId = grantId, etag } = await resource.leaseClient(grantId).renewLease(options)
      // Azurite renews an expired lease under any id, and answers with the id of the lease.
      if (leaseId.toLowerCase() === grantId.toLowerCase()) {
        return await this.#grants.renewed(resource, grant, { sentAt, etag }, call)
      }
      return { renewed: false, reason: 'taken', ...holderOf(name, await resource.find(call.signal)) }
    } catch (error) {
      if (isUnmet(error, options)) return undefined
      if (isStatus(error, 404)) return { renewed: false, reason: 'deleted' }
      if (!isLeaseConflict(error)) throw error
      const found = await resource.find(call.signal)
      return { renewed: false, reason: reasonOf(error, grant, found), ...holderOf(name, found) }
    }
  }
}

/** Returns why the service refused a renewal. `error`: the lease conflict with which it answered. */
function reasonOf(error: unknown, { name, grantId }: Grant, found: Found | undefined): RenewRefusal {
  if (found === undefined) return 'deleted'
  if (codeOf(error) === 'LeaseIsBrokenAndCannotBeRenewed') return 'broken'
  const stored = grantIn(name, found.metadata)
  return isLocked(found) || (stored !== undefined && stored.grantId !== grantId) ? 'taken' : 'expired'
}
