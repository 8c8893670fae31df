import { type Clock, type LeaseFactory, type LeaseStore, StoreLease, systemClock } from '@leasehold/core'
import { akkaBlobStore } from './akka/akka-blob-store.js'
import { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
import { type AzureBlobOptions, optionKeys, readOptions } from './azure-blob-options.js'
import { AzureBlobLease } from './blob-lease.js'
import { openServiceClient } from './service-client.js'

const makeLease: LeaseFactory = async (settings, { clock, logger, share }) => {
  const options = readOptions(settings.options)
  const key = `azure-blob:${JSON.stringify(optionKeys.map((name) => options[name] ?? null))}`
  const store = await share(key, () => openStore(options, clock))
  if (store instanceof AzureBlobLeaseStore) return new AzureBlobLease(settings, store, { clock, logger })
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in Azure Blob Storage, for `lease-class = "@leasehold/azure-blob"`. All leases of one provider with
 * the same options share a store and its client. The leases are {@link AzureBlobLease}s, except with Akka's layout. The
 * options in the block are {@link AzureBlobOptions}.
 */
export const azureBlobLease: LeaseFactory = Object.assign(makeLease, { optionKeys })

async function openStore(options: AzureBlobOptions, clock: Clock): Promise<LeaseStore> {
  const {
    layout,
    resource,
    create,
    prefix,
    container = layout === 'akka' ? 'akka-coordination-lease' : 'leases',
  } = options
  const service = await openServiceClient(options)
  // Another clock is for tests, and the store must then use it too.
  const time = clock === systemClock ? {} : { clock }
  if (layout !== 'akka') {
    const client = resource === 'container' ? service : service.getContainerClient(container)
    return new AzureBlobLeaseStore(client, { create, prefix, ...time })
  }
  const { akkaHeartbeatTimeout: heartbeatTimeout, akkaHeartbeatInterval: heartbeatInterval } = options
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew: options.akkaClockSkew }
  return akkaBlobStore(service.getContainerClient(container), { create, peers, ...time })
}
