import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { LeaseConfigurationError, LeaseConflictError } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import type { LeaseResource } from '../src/lease-resource.js'
import { UnrecordedGrants } from '../src/unrecorded-grants.js'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'
import { ServiceProxy } from './support/service-proxy.js'

const azurite = await Azurite.start()
const proxy = await ServiceProxy.start(azurite.port)
afterAll(async () => {
  await proxy.stop()
  await azurite.stop()
})

describe('a lease is taken only if nothing was written since the look at it', () => {
  it('on a blob: a claim for a version that was written in between is refused, and leaves no lease behind', async () => {
    const container = azurite.container(`blob-${randomUUID()}`)
    await container.create()
    const blob = container.getBlockBlobClient('job')
    await blob.upload('old', 3)
    const { etag: ifMatch = '' } = await blob.getProperties()
    const store = new AzureBlobLeaseStore(
      azurite.service(undefined, proxy.port).getContainerClient(container.containerName),
    )
    writeBefore('acquire', () => blob.upload('new', 3))
    await expect(store.acquire(claimOf('job', { ifMatch }), never)).rejects.toBeInstanceOf(LeaseConflictError)
    expect((await blob.getProperties()).leaseState).toBe('available')
  })

  it('on a container: an entry that its user wrote in between is kept', async () => {
    const name = `container-${randomUUID().slice(0, 8)}`
    const container = azurite.container(name)
    await container.create()
    const store = new AzureBlobLeaseStore(azurite.service(undefined, proxy.port), { names: 'exact' })
    const first = await granted(store, name)
    await store.release(first, never)
    writeBefore('acquire', () => container.setMetadata({ colour: 'blue' }))
    const next = await granted(store, name)
    expect((await container.getProperties()).metadata).toMatchObject({ colour: 'blue', leaseholdowner: 'anna' })
    expect(next.fencingToken).toBeGreaterThan(first.fencingToken)
  })
})

it('a grant whose record the service refuses is an error, and leaves no lease behind', async () => {
  const container = azurite.container(`refused-${randomUUID()}`)
  await container.create()
  const store = new AzureBlobLeaseStore(
    azurite.service(undefined, proxy.port).getContainerClient(container.containerName),
  )
  await store.blobOf('job').upload('', 0)
  proxy.behave(({ method, url }) =>
    method === 'PUT' && url.includes('comp=metadata') ? { kind: 'answer', status: 400 } : undefined,
  )
  await expect(store.acquire(claimOf('job'), never)).rejects.toBeInstanceOf(LeaseConfigurationError)
  proxy.heal()
  expect((await container.getBlockBlobClient('job').getProperties()).leaseState).toBe('available')
})

it('a token without a record is reported only after its second, as the service counts', async () => {
  const clock = new VirtualClock()
  const [granting, next] = [new Date(1_000_000), new Date(1_001_000)]
  // A pause of a second here may be shorter than the second of the service.
  const looks = [granting, granting, next]
  let looked = 0
  const found = (): object => ({ state: 'leased', infinite: false, metadata: {}, etag: '"1"', date: looks[looked++] })
  const resource = {
    kind: 'blob',
    leaseClient: () => ({ acquireLease: async () => ({ date: granting }) }),
    findUnder: async () => found(),
  } as unknown as LeaseResource
  const acquiring = new UnrecordedGrants(true, clock).acquire(resource, claimOf('job'), never)
  await clock.advance(10_000)
  expect(await acquiring).toMatchObject({ granted: true, grant: { fencingToken: 1_000_000n } })
  expect(looked).toBe(3)
})

/** Another program writes after the store has looked, before its request for the lease comes to the service. */
function writeBefore(leaseAction: string, write: () => Promise<unknown>): void {
  proxy.behave((request) => {
    if (request.leaseAction !== leaseAction) return undefined
    proxy.heal()
    void write()
    return { kind: 'delay', before: 1_000 }
  })
}
