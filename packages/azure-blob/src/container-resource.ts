import type { BlobLeaseClient, BlobServiceClient, ContainerClient } from '@azure/storage-blob'
import { type Found, type LeaseResource, toFound, type Written } from './lease-resource.js'
import { codeOf, isStatus, orMissing, unlessRefused } from './service-answer.js'

/** A lease on a container. It protects the container from deletion, but not the blobs in it. */
export class ContainerResource implements LeaseResource {
  readonly kind = 'container'
  readonly needsSettled = true
  readonly #client: ContainerClient

  constructor(service: BlobServiceClient, containerName: string) {
    this.#client = service.getContainerClient(containerName)
  }

  async find(signal: AbortSignal): Promise<Found | undefined> {
    return await orMissing(async () => toFound(await this.#client.getProperties({ abortSignal: signal })))
  }

  async make(signal: AbortSignal): Promise<Found | undefined> {
    try {
      return toFound(await this.#client.create({ abortSignal: signal }))
    } catch (error) {
      if (isStatus(error, 409) && codeOf(error) === 'ContainerAlreadyExists') return undefined
      throw error
    }
  }

  async isLeasedUnder(leaseId: string, signal: AbortSignal): Promise<boolean> {
    return await unlessRefused(() => this.#client.getProperties({ conditions: { leaseId }, abortSignal: signal }))
  }

  leaseClient(grantId: string): BlobLeaseClient {
    return this.#client.getBlobLeaseClient(grantId)
  }

  /** The service checks no ETag here, only times in whole seconds. */
  unwritten({ lastModified }: Found): { ifUnmodifiedSince: Date } {
    return { ifUnmodifiedSince: lastModified }
  }

  /** The service accepts no condition besides the lease, which is taken only if nothing was written. */
  async writeMetadata(
    metadata: Record<string, string>,
    leaseId: string,
    _found: Found,
    signal: AbortSignal,
  ): Promise<Written> {
    return await this.#client.setMetadata(metadata, { conditions: { leaseId }, abortSignal: signal })
  }
}
