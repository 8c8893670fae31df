import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'
import { times } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`ids-${randomUUID()}`)
await container.create()
const stores = [
  { kind: 'azure-blob', store: new AzureBlobLeaseStore(container) },
  { kind: 'memory', store: new MemoryLeaseStore() },
]
const invalid = ['', 'my-grant', '12345', `${randomUUID()}0`]

describe.concurrent.each(stores)('a proposed grant id ($kind)', ({ store }) => {
  it.each(invalid)('must be a GUID: %j is refused', async (grantId) => {
    const acquired = createLease(store, 'refused', times).acquire({ grantId })
    await expect(acquired).rejects.toThrow(LeaseConfigurationError)
  })

  it('that is acquired again with another duration has that duration in its record', async () => {
    const claim = claimOf('again')
    await granted(store, 'again', claim)
    for (const ttl of [30_000, Number.POSITIVE_INFINITY, 20_000]) {
      await granted(store, 'again', { ...claim, ttl })
      expect(await store.read('again', never)).toMatchObject({ ttl, state: 'leased', grantId: claim.grantId })
    }
  })
})

describe('the grant ids of the service', () => {
  it.each(invalid)('must be GUIDs: %j is refused', async (grantId) => {
    const store = new AzureBlobLeaseStore(container)
    await expect(store.acquire(claimOf('refused', { grantId }), never)).rejects.toThrow(LeaseConfigurationError)
    const grant = await granted(store, `held-${randomUUID()}`)
    await expect(store.change(grant, { grantId, owner: 'next' }, never)).rejects.toThrow(/must be a GUID/)
  })
})

describe('a lease that is acquired under an id', () => {
  it('goes on under the same id after a restart of its process, and no other does', async () => {
    const store = new AzureBlobLeaseStore(container)
    const grantId = randomUUID()
    const crashed = createAzureBlobLease(store, 'restarted', times)
    expect(await crashed.acquire({ grantId })).toBe(true)
    expect(crashed.conditions()).toEqual({ leaseId: grantId })
    const next = createAzureBlobLease(new AzureBlobLeaseStore(container), 'restarted', times)
    expect(await next.acquire()).toBe(false)
    expect(await next.acquire({ grantId })).toBe(true)
    await next.release()
    await crashed.close()
  })
})

describe('a lease of another program', () => {
  it('has no ttl and no remaining time in its record', async () => {
    const store = new AzureBlobLeaseStore(container)
    await container.getBlockBlobClient('foreign').upload('', 0)
    await container.getBlockBlobClient('foreign').getBlobLeaseClient(randomUUID()).acquireLease(60)
    const record = await store.read('foreign', never)
    expect(record).toMatchObject({ owner: '', state: 'leased' })
    expect(record?.ttl).toBeUndefined()
    expect(record?.remaining).toBeUndefined()
  })
})
