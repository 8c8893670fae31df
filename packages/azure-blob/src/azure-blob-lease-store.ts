import type { BlobServiceClient, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Clock,
  checkLeaseName,
  checkMetadata,
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  type ReleaseOutcome,
  type RenewOutcome,
  type RenewRefusal,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import type { BlobResource } from './blob-resource.js'
import { failureOf } from './failure-of.js'
import { KnownWrites } from './known-writes.js'
import { type Found, isLocked, type LeaseResource, type Written } from './lease-resource.js'
import { resourcesIn } from './resources-in.js'
import { codeOf, isLeaseConflict, isRefusal, isStatus } from './service-answer.js'
import { settling } from './settling.js'
import { grantIn, type StoredGrant, toGrant, toRecord, withGrant } from './stored-grant.js'
import { endOfSecond, isSettled, tokenTime } from './write-time.js'

/** How often an operation that lost a race against another writer is begun anew. */
const ROUNDS = 5

/** Of a lease that expires, in milliseconds: the service's. */
const SHORTEST = 15_000
const LONGEST = 60_000

export interface AzureBlobLeaseStoreOptions {
  /** Whether the container and the blobs are made where they are missing; `true` unless given. */
  readonly create?: boolean | undefined
  /** What the names of the blobs begin with, such as `leases/`; `lease-` for containers and nothing for blobs unless given. */
  readonly prefix?: string | undefined
  /** For the pause until the second of a write is over; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/**
 * Leases over the native leases of Azure Blob Storage: a blob a name, in the given container; or a container a name, in
 * the account of the given service client. The service times them: 15 to 60 s, or infinite. Owner, fencing token and
 * metadata are in the metadata of the blob, written under its lease; its content is never touched.
 */
export class AzureBlobLeaseStore implements LeaseStore {
  readonly kind = 'azure-blob'
  readonly limits: StoreLimits = { minTtl: SHORTEST, maxTtl: LONGEST, infinite: true, ordered: false }
  readonly #resourceOf: (name: string) => LeaseResource
  readonly #create: boolean
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #known = new KnownWrites()

  /** The client is the caller's own, with its credentials, retries and proxies; it is not closed with the store. */
  constructor(client: ContainerClient | BlobServiceClient, options: AzureBlobLeaseStoreOptions = {}) {
    const { create = true, prefix, clock = systemClock } = options
    this.#resourceOf = resourcesIn(client, prefix)
    this.#create = create
    this.#clock = clock
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata = {} } = request
    checkLeaseName(name)
    checkTtl(name, ttl)
    checkMetadata(metadata, { leaseName: name, store: this.kind })
    return await this.#inRounds('acquire', name, signal, async (resource) => {
      let found = (await resource.find(signal)) ?? (await this.#make(resource, name, signal))
      if (found === undefined) return undefined
      const stored = grantIn(name, found.metadata)
      const isRepeated = found.state === 'leased' && stored?.grantId === grantId
      // The found record may have returned within this second, over a grant of this second. On a container, another write
      // within it would go unseen as well.
      if (!isRepeated && (resource.needsSettled ? !isSettled(found) : this.#mayHaveReturned(name, found))) {
        if (resource.needsSettled && isLocked(found) && stored !== undefined) return refusal(name, found)
        // What is locked is refused without a pause, unless the lease is ours already: see #writeGrant.
        if (resource.needsSettled || !isLocked(found)) found = await this.#settled(found, signal)
      }
      const fencingToken = this.#nextToken(name, found, stored)
      const record = withGrant(found.metadata, { name, owner, grantId, ttl, metadata, fencingToken })
      const conditions = resource.unwritten(found)
      try {
        // Tried though the name is held: it may be by an earlier request of ours, whose record was never written.
        await resource.leaseClient(grantId).acquireLease(toSeconds(ttl), { conditions, abortSignal: signal })
      } catch (error) {
        if (isStatus(error, 412) || isStatus(error, 404)) return undefined
        if (!isLeaseConflict(error)) throw error
        return refusal(name, found)
      }
      if (isRepeated) return { granted: true, grant: toGrant({ ...stored, ttl }) }
      if (!(await this.#writeGrant(resource, found, { name, grantId }, record, signal))) return undefined
      return { granted: true, grant: { name, owner, grantId, ttl, fencingToken } }
    })
  }

  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    const { name, grantId } = grant
    return await this.#inRounds('renew', name, signal, async (resource): Promise<RenewOutcome> => {
      try {
        const { leaseId = grantId } = await resource.leaseClient(grantId).renewLease({ abortSignal: signal })
        // Azurite renews an expired lease by any id, and tells whose it is.
        if (leaseId.toLowerCase() === grantId.toLowerCase()) return { renewed: true }
        return { renewed: false, reason: 'taken', ...holderOf(name, await resource.find(signal)) }
      } catch (error) {
        if (isStatus(error, 404)) return { renewed: false, reason: 'deleted' }
        if (!isLeaseConflict(error)) throw error
        const found = await resource.find(signal)
        return { renewed: false, reason: reasonOf(error, grant, found), ...holderOf(name, found) }
      }
    })
  }

  async release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    return await this.#inRounds('release', name, signal, async (resource): Promise<ReleaseOutcome> => {
      try {
        await resource.leaseClient(grantId).releaseLease({ abortSignal: signal })
        return { released: true }
      } catch (error) {
        if (isStatus(error, 404)) return { released: false }
        if (!isLeaseConflict(error)) throw error
        return { released: false, ...holderOf(name, await resource.find(signal)) }
      }
    })
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    checkLeaseName(name)
    // In a list, since a round that has nothing to tell is begun anew.
    const [record] = await this.#inRounds('read', name, signal, async (resource) => {
      const found = await resource.find(signal)
      if (found === undefined) return [undefined]
      const stored = grantIn(name, found.metadata)
      if (stored === undefined || !isLocked(found)) return [toRecord(name, stored, found.state)]
      // Between taking the lease and writing the record, the record is that of the holder before.
      const isInForce = await resource.isLeasedUnder(stored.grantId, signal)
      return [toRecord(name, isInForce ? stored : undefined, found.state)]
    })
    return record
  }

  async change(
    { name, grantId }: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    return await this.#inRounds('change', name, signal, async (resource) => {
      const found = await resource.find(signal)
      const stored = found && grantIn(name, found.metadata)
      if (found === undefined || stored === undefined) return { granted: false, ...holderOf(name, found) }
      const isRepeated = stored.grantId === to.grantId
      const grant = isRepeated ? stored : { ...stored, ...to, fencingToken: this.#nextToken(name, found, stored) }
      const record = withGrant(found.metadata, grant)
      const conditions = resource.unwritten(found)
      try {
        await resource.leaseClient(grantId).changeLease(to.grantId, { conditions, abortSignal: signal })
      } catch (error) {
        if (isStatus(error, 412)) return undefined
        if (!isLeaseConflict(error) && !isStatus(error, 404)) throw error
        return refusal(name, found)
      }
      if (!isRepeated && !(await this.#writeGrant(resource, found, { ...to, name }, record, signal))) return undefined
      // The change leaves the clock of the lease as it was: a whole ttl begins with a renewal.
      await resource.leaseClient(to.grantId).renewLease({ abortSignal: signal })
      return { granted: true, grant: toGrant(grant) }
    })
  }

  /** The service counts in whole seconds: a period is rounded up. */
  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ readonly remaining: number }> {
    checkLeaseName(name)
    const { period, reason } = options
    if (period !== undefined && !(period >= 0 && period <= LONGEST)) {
      const message = `the break period must be 0 to ${LONGEST} ms, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    return await this.#inRounds('break', name, signal, async (resource) => {
      const found = await resource.find(signal)
      if (found === undefined || found.state === 'available') throw nothingToBreak(name)
      const stored = grantIn(name, found.metadata)
      if (reason !== undefined && stored !== undefined && isLocked(found)) {
        // For whoever reads it; the lease is broken also where somebody else writes at the same time.
        const told = { ...stored, metadata: { ...stored.metadata, breakReason: reason } }
        await write(resource, found, stored.grantId, withGrant(found.metadata, told), signal)
      }
      const seconds = Math.ceil((period ?? (found.infinite ? 0 : LONGEST)) / 1_000)
      try {
        const client = resource.leaseClient(stored?.grantId ?? '')
        const { leaseTime = 0 } = await client.breakLease(seconds, { abortSignal: signal })
        return { remaining: leaseTime * 1_000 }
      } catch (error) {
        if (isLeaseConflict(error) || isStatus(error, 404)) throw nothingToBreak(name)
        throw error
      }
    })
  }

  /**
   * The client of the blob on which the lease of a name is, for its content: see `AzureBlobLease.conditions`. Throws a
   * `LeaseConfigurationError` where leases are on containers.
   */
  blobOf(name: string): BlockBlobClient {
    checkLeaseName(name)
    const resource = this.#resourceOf(name)
    if (resource.kind === 'blob') return (resource as BlobResource).client
    const message = 'these leases are on containers: there is no blob that goes with one'
    throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  /** Begins an operation anew when another writer came in between; every failure is a typed one. */
  async #inRounds<T>(
    operation: string,
    name: string,
    signal: AbortSignal,
    round: (resource: LeaseResource) => Promise<T | undefined>,
  ): Promise<T> {
    const details = { leaseName: name, store: this.kind }
    const resource = this.#resourceOf(name)
    for (let count = 0; count < ROUNDS; count += 1) {
      if (this.#closing.signal.aborted) throw new LeaseUnavailableError(`the ${this.kind} store is closed`, details)
      signal.throwIfAborted()
      try {
        const outcome = await round(resource)
        if (outcome !== undefined) return outcome
      } catch (error) {
        throw failureOf({ operation, ...details }, error)
      }
    }
    const message = `'${name}' was written by others ${ROUNDS} times in a row: try again`
    throw new LeaseUnavailableError(message, details)
  }

  /**
   * One more than the stored token, and at least the service's time: the record may be older than the last grant, where a
   * snapshot or metadata that somebody read earlier was written over the last record, or missing.
   */
  #nextToken(name: string, found: Found, stored: StoredGrant | undefined): bigint {
    const time = tokenTime(found, this.#known.has(name, found.etag))
    const next = (stored?.fencingToken ?? 0n) + 1n
    return next > time ? next : time
  }

  /** Whether the record may be older than the last grant, which was made within the same second. */
  #mayHaveReturned(name: string, found: Found): boolean {
    return !isSettled(found) && !this.#known.has(name, found.etag)
  }

  /** What was found, once the second of its last write is over. Nothing is written in between, or the lease is not taken. */
  async #settled(found: Found, signal: AbortSignal): Promise<Found> {
    await settling(this.#clock, signal)
    return { ...found, date: endOfSecond(found) }
  }

  /** Writes the record of a new grant, under its lease; `false` where somebody else has written in between. */
  async #writeGrant(
    resource: LeaseResource,
    found: Found,
    { name, grantId }: Pick<Grant, 'name' | 'grantId'>,
    record: Record<string, string>,
    signal: AbortSignal,
  ): Promise<boolean> {
    // The token is that of the next second already.
    if (this.#mayHaveReturned(name, found)) await settling(this.#clock, signal)
    const written = await write(resource, found, grantId, record, signal)
    this.#known.keep(name, written?.etag)
    return written !== undefined
  }

  async #make(resource: LeaseResource, name: string, signal: AbortSignal): Promise<Found | undefined> {
    if (this.#create) return await resource.make(signal)
    throw new LeaseConfigurationError(
      `there is no ${resource.kind} for lease '${name}', and 'create' is off: make it, or turn 'create' on`,
      { leaseName: name, store: this.kind },
    )
  }
}

/**
 * Writes the record under its lease, if nobody wrote since the found one; `undefined`: somebody did. What the service will
 * never take must leave no lease behind that nobody knows of.
 */
async function write(
  resource: LeaseResource,
  found: Found,
  grantId: string,
  record: Record<string, string>,
  signal: AbortSignal,
): Promise<Written | undefined> {
  try {
    return await resource.writeMetadata(record, grantId, found, signal)
  } catch (error) {
    if (isStatus(error, 412) || isStatus(error, 404)) return undefined
    if (isRefusal(error)) {
      await resource
        .leaseClient(grantId)
        .releaseLease({ abortSignal: signal })
        .catch(() => {})
    }
    throw error
  }
}

function checkTtl(name: string, ttl: number): void {
  if ((ttl >= SHORTEST && ttl <= LONGEST) || ttl === Number.POSITIVE_INFINITY) return
  const message = `the ttl must be ${SHORTEST} to ${LONGEST} ms or Infinity, not ${ttl}`
  throw new LeaseConfigurationError(message, { leaseName: name, store: 'azure-blob' })
}

/** Whole seconds, rather more than fewer; -1 for a lease that does not expire. */
function toSeconds(ttl: number): number {
  return ttl === Number.POSITIVE_INFINITY ? -1 : Math.ceil(ttl / 1_000)
}

function refusal(name: string, found: Found): AcquireOutcome {
  return { granted: false, ...holderOf(name, found) }
}

function holderOf(name: string, found: Found | undefined): { holder?: LeaseRecord } {
  if (found === undefined || !isLocked(found)) return {}
  const holder = toRecord(name, grantIn(name, found.metadata), found.state)
  return holder === undefined ? {} : { holder }
}

function reasonOf(error: unknown, { name, grantId }: Grant, found: Found | undefined): RenewRefusal {
  if (found === undefined) return 'deleted'
  if (codeOf(error) === 'LeaseIsBrokenAndCannotBeRenewed') return 'broken'
  const stored = grantIn(name, found.metadata)
  return isLocked(found) || (stored !== undefined && stored.grantId !== grantId) ? 'taken' : 'expired'
}

function nothingToBreak(name: string): LeaseConflictError {
  return new LeaseConflictError(`nobody holds '${name}': there is nothing to break`, {
    leaseName: name,
    store: 'azure-blob',
  })
}
