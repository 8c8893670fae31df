import type { BlockBlobClient } from '@azure/storage-blob'
import {
  type CreateLeaseOptions,
  type Grant,
  LeaseLostError,
  type LeaseSettings,
  type LeaseStore,
  type ReleaseOptions,
  StoreLease,
  type StoreLeaseEnvironment,
} from '@leasehold/core'
import { leaseParts, type OpenContext, providerFactory } from '@leasehold/core/store'
import { akkaBlobStore } from './akka/akka-blob-store.js'
import { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
import { type AzureBlobOptions, azureBlobOptions, checkOptions } from './azure-blob-options.js'
import { openServiceClient } from './service-client.js'

/** A lease on a blob or a container. With its id, the service rejects writes after the lease is lost. */
export class AzureBlobLease extends StoreLease {
  readonly #store: AzureBlobLeaseStore
  #etag: string | undefined

  constructor(settings: LeaseSettings, store: AzureBlobLeaseStore, environment: StoreLeaseEnvironment = {}) {
    super(settings, store, environment)
    this.#store = store
  }

  /**
   * The `conditions` for a write to the blob of this lease, for the SDK. The service rejects the write unless this lease is in
   * force: with 412, or 409 while another owner holds it. Throws a `LeaseLostError` unless the lease is held.
   */
  conditions(): { readonly leaseId: string } {
    const { grant } = this
    if (grant !== undefined && this.checkLease()) return { leaseId: grant.grantId }
    const { name, owner } = this.settings
    throw new LeaseLostError(`lease '${name}' is not held: acquire it before you write under it`, {
      leaseName: name,
      owner,
      store: this.#store.kind,
      reason: 'expired',
    })
  }

  /**
   * The ETag of the blob at the grant, while the lease is held; after that, at the release. For `acquire({ ifMatch })`:
   * whether the blob is unchanged since this lease was released. `undefined` for a container, and after a loss.
   */
  get etag(): string | undefined {
    const grant: (Grant & { readonly etag?: string }) | undefined = this.grant
    return grant === undefined ? this.#etag : grant.etag
  }

  override async release(options?: ReleaseOptions): Promise<boolean> {
    const { grant } = this
    const isReleased = await super.release(options)
    if (grant !== undefined) this.#etag = this.#store.etagAtRelease(grant.grantId)
    return isReleased
  }

  /**
   * The client of the blob with the lease; its content is yours. Throws a `LeaseConfigurationError` for a lease on a
   * container.
   */
  get blob(): BlockBlobClient {
    return this.#store.blobOf(this.settings.name)
  }
}

/** Like `createLease`, for leases with `conditions()` and `blob`. Throws the same errors. */
export function createAzureBlobLease(
  store: AzureBlobLeaseStore,
  name: string,
  options: CreateLeaseOptions = {},
): AzureBlobLease {
  const { settings, environment } = leaseParts('createAzureBlobLease', name, options)
  return new AzureBlobLease(settings, store, environment)
}

/**
 * The factory of leases in Azure Blob Storage, for `lease-class = "@leasehold/azure-blob"`. All leases of one provider with
 * the same options share a store and its client. The leases are {@link AzureBlobLease}s, except with Akka's layout. The
 * options in the block are {@link AzureBlobOptions}.
 */
export const azureBlobLease = providerFactory(azureBlobOptions, openStore, (settings, store, environment) => {
  if (store instanceof AzureBlobLeaseStore) return new AzureBlobLease(settings, store, environment)
  return new StoreLease(settings, store, environment)
})

async function openStore(values: AzureBlobOptions, { clock }: OpenContext): Promise<LeaseStore> {
  checkOptions(values)
  const { layout, resource, create, prefix, names, metadata, clientRequestId } = values
  const container = values.container ?? (layout === 'akka' ? 'akka-coordination-lease' : 'leases')
  const service = await openServiceClient(values)
  if (layout !== 'akka') {
    const client = resource === 'container' ? service : service.getContainerClient(container)
    return new AzureBlobLeaseStore(client, { create, prefix, names, metadata, clientRequestId, clock })
  }
  const { akkaHeartbeatTimeout: heartbeatTimeout, akkaHeartbeatInterval: heartbeatInterval } = values
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew: values.akkaClockSkew }
  return akkaBlobStore(service.getContainerClient(container), { create, peers, clock })
}
