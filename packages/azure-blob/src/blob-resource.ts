import type { BlobLeaseClient, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { type Found, type LeaseResource, toFound, type Written } from './lease-resource.js'
import { codeOf, isStatus, orMissing, unlessRefused } from './service-answer.js'

/** A lease on a blob. The content of the blob is never touched. */
export class BlobResource implements LeaseResource {
  readonly kind = 'blob'
  readonly needsSettled = false
  readonly client: BlockBlobClient
  readonly #container: ContainerClient

  constructor(container: ContainerClient, blobName: string) {
    this.#container = container
    this.client = container.getBlockBlobClient(blobName)
  }

  async find(signal: AbortSignal): Promise<Found | undefined> {
    return await orMissing(async () => toFound(await this.client.getProperties({ abortSignal: signal })))
  }

  async make(signal: AbortSignal): Promise<Found | undefined> {
    try {
      return await this.#upload(signal)
    } catch (error) {
      if (codeOf(error) === 'ContainerNotFound') {
        await this.#container.createIfNotExists({ abortSignal: signal })
        return undefined
      }
      if (isStatus(error, 409) && codeOf(error) === 'BlobAlreadyExists') return undefined
      throw error
    }
  }

  async isLeasedUnder(leaseId: string, signal: AbortSignal): Promise<boolean> {
    return await unlessRefused(() => this.client.getProperties({ conditions: { leaseId }, abortSignal: signal }))
  }

  leaseClient(grantId: string): BlobLeaseClient {
    return this.client.getBlobLeaseClient(grantId)
  }

  unwritten({ etag }: Found): { ifMatch: string } {
    return { ifMatch: etag }
  }

  async writeMetadata(
    metadata: Record<string, string>,
    leaseId: string,
    { etag }: Found,
    signal: AbortSignal,
  ): Promise<Written> {
    return await this.client.setMetadata(metadata, { conditions: { leaseId, ifMatch: etag }, abortSignal: signal })
  }

  async #upload(signal: AbortSignal): Promise<Found> {
    const conditions = { ifNoneMatch: '*' }
    return toFound(await this.client.upload('', 0, { conditions, abortSignal: signal }))
  }
}
