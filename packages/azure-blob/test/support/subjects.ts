import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import type { StoreSubject } from '@leasehold/testkit'
import type { Azurite } from './azurite.js'
import { never, TTL } from './claims.js'
import { copyOfMetadata } from './copies.js'
import { prepared } from './prepared.js'
import { spawnHolder } from './spawn-holder.js'

/** The store whose leases are on blobs, in a container that all trials share, or one for each trial unless given. */
export const blobsOn = (azurite: Azurite, shared?: string): StoreSubject => ({
  name: 'azure-blob, leases on blobs',
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
  start: () => {
    const container = shared ?? `laws-${randomUUID()}`
    const open = () => new AzureBlobLeaseStore(azurite.container(container))
    return {
      open,
      prepare: prepared(open),
      delete: async (name) => {
        const { grantId = '', state } = (await open().read(name, never)) ?? {}
        // The service rejects the deletion of a leased blob without the id of the lease.
        const conditions = state === 'leased' || state === 'breaking' ? { leaseId: grantId } : {}
        await open().blobOf(name).delete({ conditions })
      },
      copy: (name) => copyOfMetadata(open().blobOf(name)),
      holdElsewhere: (name) => spawnHolder(azurite, container, name, TTL),
    }
  },
})

/** The store whose leases are on containers. */
export const containersOn = (azurite: Azurite): StoreSubject => ({
  name: 'azure-blob, leases on containers',
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
  start: () => {
    const service = azurite.service()
    // Names of containers are short: the laws that copy a record have one name only.
    const prefix = `l${randomUUID().slice(0, 8)}-`
    return {
      open: () => new AzureBlobLeaseStore(azurite.service(), { prefix }),
      copy: async () => {
        for await (const { name } of service.listContainers({ prefix })) {
          return await copyOfMetadata(service.getContainerClient(name))
        }
        throw new Error('there is no container')
      },
    }
  },
})
