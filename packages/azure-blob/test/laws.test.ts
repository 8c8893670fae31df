import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, akkaBlobStore } from '@leasehold/azure-blob'
import type { LeaseStore } from '@leasehold/core'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll } from 'vitest'
import { Azurite } from './support/azurite.js'
import { granted, never, TTL } from './support/claims.js'
import { spawnHolder } from './support/spawn-holder.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** The first claim of a name waits until the second is over in which its blob was made. */
function prepared(open: () => LeaseStore): (name: string) => Promise<void> {
  const made = new Map<string, Promise<void>>()
  return (name) => {
    const making = made.get(name) ?? claimAndRelease(open(), name)
    made.set(name, making)
    return making
  }
}

async function claimAndRelease(store: LeaseStore, name: string): Promise<void> {
  await store.release(await granted(store, name), never)
}

const blobs: StoreSubject = {
  name: 'azure-blob, leases on blobs',
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
  start: () => {
    const container = `laws-${randomUUID()}`
    const open = () => new AzureBlobLeaseStore(azurite.container(container))
    return {
      open,
      prepare: prepared(open),
      delete: async (name) => {
        const { grantId = '', state } = (await open().read(name, never)) ?? {}
        // The service lets nobody delete what is leased without the id of the lease.
        const conditions = state === 'leased' || state === 'breaking' ? { leaseId: grantId } : {}
        await open().blobOf(name).delete({ conditions })
      },
      holdElsewhere: (name) => spawnHolder(azurite, container, name, TTL),
    }
  },
}

const containers: StoreSubject = {
  name: 'azure-blob, leases on containers',
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
  start: () => {
    return { open: () => new AzureBlobLeaseStore(azurite.service()) }
  },
}

/** Whose expiry is observed: with no limit of the service. */
const akka: StoreSubject = {
  name: 'azure-blob, layout akka',
  time: 'real',
  ttl: 15_000,
  clients: true,
  // Akka's rule makes one lease of several names; the store refuses the second of them.
  anyName: false,
  start: () => {
    const container = azurite.container(`akka-${randomUUID()}`)
    const open = () => akkaBlobStore(container)
    return { open, prepare: prepared(open), delete: (name) => container.deleteBlob(name) }
  },
}

describeStoreLaws(blobs)
describeStoreLaws(akka)
describeLeaseLaws(leasesOver(akka))
describeStoreLaws(containers)
describeLeaseLaws(leasesOver(blobs))
