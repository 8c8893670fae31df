import { type Clock, type LeaseFactory, type LeaseStore, StoreLease, systemClock } from '@leasehold/core'
import { akkaBlobStore } from './akka/akka-blob-store.js'
import { AzureBlobLease } from './azure-blob-lease.js'
import { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
import { type AzureBlobOptions, optionKeys, readOptions } from './azure-blob-options.js'
import { openServiceClient } from './service-client.js'

const makeLease: LeaseFactory = async (settings, { clock, logger, share }) => {
  const options = readOptions(settings.options)
  const key = `azure-blob:${JSON.stringify(optionKeys.map((name) => options[name] ?? null))}`
  const store = await share(key, () => openStore(options, clock))
  if (store instanceof AzureBlobLeaseStore) return new AzureBlobLease(settings, store, { clock, logger })
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in Azure Blob Storage, what `lease-class = "@leasehold/azure-blob"` names: all leases of one
 * provider with the same options share their store and its client. Its leases are {@link AzureBlobLease}s, except with
 * Akka's layout. Of the block it reads the {@link AzureBlobOptions}.
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
  // A clock that is not the machine's is a test's; the store's must then be the same.
  const time = clock === systemClock ? {} : { clock }
  if (layout !== 'akka') {
    const client = resource === 'container' ? service : service.getContainerClient(container)
    return new AzureBlobLeaseStore(client, { create, prefix, ...time })
  }
  const { akkaHeartbeatTimeout: heartbeatTimeout, akkaHeartbeatInterval: heartbeatInterval } = options
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew: options.akkaClockSkew }
  return akkaBlobStore(service.getContainerClient(container), { create, peers, ...time })
}
