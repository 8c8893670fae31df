import type { BlobLeaseClient, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { isLocked, type LeaseRecord, type LeaseState } from '@leasehold/core'
import type { WriteStamp } from '@leasehold/core/store-kit'
import { createOnce, unless } from './service-answer.js'
import { type BlobMetadata, grantIn, type LeaseStatus, toRecord } from './stored-grant.js'

/** The state of a blob or a container in an answer of the service. */
export interface Found extends WriteStamp, LeaseStatus {
  readonly metadata: BlobMetadata
  readonly etag: string
}

/** The common fields of answers about blobs and containers. */
interface LeaseProperties extends Partial<WriteStamp> {
  readonly leaseState?: LeaseState
  readonly leaseDuration?: 'finite' | 'fixed' | 'infinite'
  readonly metadata?: BlobMetadata
  readonly etag?: string
}

/**
 * The blob or the container of a lease name. The content of a blob is never touched. A lease on a container protects it from
 * deletion, but not the blobs in it. The methods reject with the errors of the SDK.
 */
export class LeaseResource {
  /** Absent if the lease is on the container itself. */
  readonly blob: BlockBlobClient | undefined
  readonly #container: ContainerClient
  readonly #client: BlockBlobClient | ContainerClient
  readonly #isRecorded: boolean

  /** `isRecorded`: whether grants have records; without them, the metadata is not looked at. */
  constructor(container: ContainerClient, blobName: string | undefined, isRecorded: boolean) {
    this.#isRecorded = isRecorded
    this.blob = blobName === undefined ? undefined : container.getBlockBlobClient(blobName)
    this.#container = container
    this.#client = this.blob ?? container
  }

  get kind(): 'blob' | 'container' {
    return this.blob === undefined ? 'container' : 'blob'
  }

  async find(abortSignal: AbortSignal): Promise<Found | undefined> {
    const found = await unless([404], () => this.#client.getProperties({ abortSignal }))
    return found && this.#toFound(found)
  }

  /** Creates it. Resolves with `undefined` if another process was faster, or the container of the blob was missing. */
  async make(abortSignal: AbortSignal): Promise<Found | undefined> {
    const { blob } = this
    const conditions = { ifNoneMatch: '*' }
    const made = await createOnce(this.#container, abortSignal, () =>
      blob === undefined ? this.#container.create({ abortSignal }) : blob.upload('', 0, { conditions, abortSignal }),
    )
    return made && this.#toFound(made)
  }

  leaseClient(grantId: string): BlobLeaseClient {
    return this.#client.getBlobLeaseClient(grantId)
  }

  /** Like `find`, but resolves with `undefined` also if the lease in force is not that of the grant. */
  async findUnder(leaseId: string, abortSignal: AbortSignal): Promise<Found | undefined> {
    const request = () => this.#client.getProperties({ conditions: { leaseId }, abortSignal })
    const found = await unless([404, 409, 412], request)
    return found && this.#toFound(found)
  }

  /**
   * The condition under which a lease is taken only if nothing was written since. For a container, the service checks no
   * ETag, only times in whole seconds, so the second of the last write has to be over.
   */
  unwritten({ etag, lastModified }: Found): { ifMatch: string } | { ifUnmodifiedSince: Date } {
    return this.blob === undefined ? { ifUnmodifiedSince: lastModified } : { ifMatch: etag }
  }

  /** Replaces the metadata under the lease. Resolves with `undefined` if something was written since `found`. */
  async write(
    metadata: Record<string, string>,
    leaseId: string,
    found: Found,
    abortSignal: AbortSignal,
  ): Promise<{ readonly etag?: string } | undefined> {
    // For a container, the service accepts no condition besides the lease, which is taken only if nothing was written.
    const conditions = this.blob === undefined ? { leaseId } : { leaseId, ifMatch: found.etag }
    return await unless([404, 412], () => this.#client.setMetadata(metadata, { conditions, abortSignal }))
  }

  #toFound(properties: LeaseProperties): Found {
    const { leaseState: state = 'available', leaseDuration, etag = '', lastModified, date } = properties
    if (lastModified === undefined || date === undefined) throw new TypeError('the answer of the service has no time')
    const { metadata = {} } = this.#isRecorded ? properties : {}
    return { state, infinite: leaseDuration === 'infinite', metadata, etag, lastModified, date }
  }
}

export function holderOf(name: string, found: Found | undefined): { holder?: LeaseRecord } {
  if (found === undefined || !isLocked(found)) return {}
  const holder = toRecord(name, grantIn(name, found.metadata), found)
  return holder === undefined ? {} : { holder }
}
