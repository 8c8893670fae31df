import { type LeaseStore, StoreLease } from '@leasehold/core'
import { type OpenContext, providerFactory } from '@leasehold/core/store'
import { akkaBlobStore } from './akka/akka-blob-store.js'
import { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
import { type AzureBlobOptions, azureBlobOptions, checkOptions } from './azure-blob-options.js'
import { AzureBlobLease } from './blob-lease.js'
import { openServiceClient } from './service-client.js'

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
  const {
    layout,
    resource,
    create,
    prefix,
    container = layout === 'akka' ? 'akka-coordination-lease' : 'leases',
  } = values
  const service = await openServiceClient(values)
  const time = clock === undefined ? {} : { clock }
  if (layout !== 'akka') {
    const client = resource === 'container' ? service : service.getContainerClient(container)
    return new AzureBlobLeaseStore(client, { create, prefix, ...time })
  }
  const { akkaHeartbeatTimeout: heartbeatTimeout, akkaHeartbeatInterval: heartbeatInterval } = values
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew: values.akkaClockSkew }
  return akkaBlobStore(service.getContainerClient(container), { create, peers, ...time })
}
