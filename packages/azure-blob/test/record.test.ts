import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { AzureBlobLeaseStore, type AzureBlobLeaseStoreOptions } from '@leasehold/azure-blob'
import { type Grant, LeaseConfigurationError } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never, TTL } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`record-${randomUUID()}`)
await container.create()

function open(options: AzureBlobLeaseStoreOptions = {}): AzureBlobLeaseStore {
  return new AzureBlobLeaseStore(container, options)
}

describe.concurrent('the record', () => {
  it('has the owner, the token and the metadata, in any script, in the metadata of the blob', async () => {
    const store = open()
    const metadata = { 'Größe §': '大きい\n"quoted"' }
    const grant = await granted(store, 'record/of any', { owner: 'Ænna ✓', metadata })
    const { etag: _, ...recorded }: Grant & { etag?: string } = grant
    expect(await store.read('record/of any', never)).toEqual({
      ...recorded,
      ...{ metadata, state: 'leased', duration: 'fixed', grantedAt: expect.any(Number) },
    })
    const found = await store.blobOf('record/of any').getProperties()
    expect(found.metadata?.leaseholdtoken).toBe(String(grant.fencingToken))
  })

  it('leaves the content and the metadata of its user as they are', async () => {
    const store = open()
    const blob = store.blobOf('mine')
    await blob.upload('of the user', 11, { metadata: { colour: 'blue' } })
    const first = await granted(store, 'mine')
    await store.release(first, never)
    await granted(store, 'mine')
    const { metadata } = await blob.getProperties()
    expect(metadata).toMatchObject({ colour: 'blue' })
    expect(String(await blob.downloadToBuffer())).toBe('of the user')
  })

  it('has tokens that grow with each grant, across release, break and expiry', {
    timeout: 60_000,
  }, async () => {
    const store = open()
    const tokens: bigint[] = []
    const claim = async (): Promise<void> => void tokens.push((await granted(store, 'token')).fencingToken)
    await claim()
    await store.break('token', { period: 0 }, never)
    await claim()
    const third = await granted(store, 'token').catch(() => undefined)
    expect(third).toBeUndefined()
    await pause(TTL + 2_000)
    await claim()
    const [first = 0n, second = 0n, last = 0n] = tokens
    expect(second).toBeGreaterThan(first)
    // By the service's clock.
    expect(last).toBeGreaterThanOrEqual(first + BigInt(TTL))
  })

  it('of a blob that was deleted and created again has a larger token than before', async () => {
    const store = open()
    const tokens: bigint[] = []
    for (let round = 0; round < 3; round += 1) {
      for (let grants = 0; grants < 3; grants += 1) {
        const grant = await granted(store, 'deleted')
        tokens.push(grant.fencingToken)
        await store.release(grant, never)
      }
      // At once: within the second of the last write.
      await store.blobOf('deleted').delete()
    }
    expect([...tokens].sort((a, b) => Number(a - b))).toEqual(tokens)
    expect(new Set(tokens).size).toBe(tokens.length)
    const { createdOn } = await store.blobOf('token').getProperties()
    expect(tokens[0]).toBeGreaterThanOrEqual(BigInt(createdOn?.getTime() ?? Number.NaN) - 60_000n)
  })

  it('that its user has overwritten is written again, with a larger token than before', async () => {
    const store = open()
    const held = await granted(store, 'overwritten')
    // An upload also replaces the metadata.
    const conditions = { leaseId: held.grantId }
    await store.blobOf('overwritten').upload('new', 3, { conditions })
    expect(await store.read('overwritten', never)).toMatchObject({ state: 'leased', owner: '' })
    expect(await store.renew(held, never)).toEqual({ renewed: true })
    expect(await store.acquire(claimOf('overwritten'), never)).toMatchObject({ granted: false })
    expect(await store.release(held, never)).toEqual({ released: true })
    expect((await granted(store, 'overwritten')).fencingToken).toBeGreaterThan(held.fencingToken)
  })

  it.each([
    { entry: { leaseholdtoken: 'not a number' } },
    { entry: { leaseholdtoken: '7', leaseholdmetadata: '%5B1%5D' } },
    { entry: { leaseholdtoken: '7', leaseholdowner: '%' } },
  ])('that is invalid is an error, and is not overwritten: $entry', async ({ entry }) => {
    const store = open()
    const name = `hostile ${randomUUID()}`
    await store.blobOf(name).upload('', 0, { metadata: entry })
    await expect(store.read(name, never)).rejects.toThrow(LeaseConfigurationError)
    await expect(store.acquire(claimOf(name), never)).rejects.toThrow(/remove its entries that start with 'leasehold'/)
    expect((await store.blobOf(name).getProperties()).metadata).toEqual(entry)
  })

  it('that the service rejects is an error, and leaves no lease behind', async () => {
    const store = open()
    await store.blobOf('too long').upload('', 0, { metadata: { long: 'x'.repeat(8_100) } })
    await expect(store.acquire(claimOf('too long'), never)).rejects.toThrow(/has room for 8192: shorten/)
    expect((await store.blobOf('too long').getProperties()).leaseState).toBe('available')
  })

  it('of an incomplete grant is written only by the next request with its id', async () => {
    const store = open()
    const claim = claimOf('half')
    await store.blobOf('half').upload('', 0)
    await store.blobOf('half').getBlobLeaseClient(claim.grantId).acquireLease(15)
    expect(await store.acquire(claimOf('half'), never)).toMatchObject({ granted: false })
    expect(await store.acquire(claim, never)).toMatchObject({ granted: true, grant: { owner: 'anna' } })
    expect(await store.read('half', never)).toMatchObject({ state: 'leased', owner: 'anna' })
  })
})

describe.concurrent('a missing blob or container', () => {
  it('is created: the container, and the blob', async () => {
    const store = new AzureBlobLeaseStore(azurite.container(`made-${randomUUID()}`), { prefix: 'leases/' })
    await granted(store, 'job')
    expect(store.blobOf('job').name).toBe('leases/job')
  })

  it("is a typed error if 'create' is off", async () => {
    const store = open({ create: false })
    await expect(store.acquire(claimOf('missing'), never)).rejects.toThrow(
      /the blob of lease 'missing' does not exist.*turn 'create' on/,
    )
    const containers = new AzureBlobLeaseStore(azurite.service(), { create: false })
    await expect(containers.acquire(claimOf('missing'), never)).rejects.toThrow(
      /the container of lease 'missing' does not exist/,
    )
    expect(await store.read('missing', never)).toBeUndefined()
  })
})

describe('names', () => {
  it('of containers are those that the service takes, and those of blobs mean nothing in an address', async () => {
    const store = new AzureBlobLeaseStore(azurite.service())
    for (const name of ['Nightly-Report', 'ünï/cödé', '--', 'z'.repeat(200)]) {
      await expect(granted(store, name)).resolves.toMatchObject({ name })
    }
    expect(() => store.blobOf('job')).toThrow(/on containers/)
    expect(open().blobOf('a/../b?c').name).toBe('a~2f~2e~2e~2fb~3fc')
  })

  it.each([
    { prefix: 'Leases', client: 'containers', why: /lower-case/ },
    { prefix: 'a--b', client: 'containers', why: /single hyphens/ },
    { prefix: `l-${'x'.repeat(30)}`, client: 'containers', why: /at most 23/ },
    { prefix: 'x'.repeat(500), client: 'blobs', why: /at most 472/ },
  ])('a prefix that does not do is refused when built: $prefix', ({ prefix, client, why }) => {
    const make = () => new AzureBlobLeaseStore(client === 'containers' ? azurite.service() : container, { prefix })
    expect(make).toThrow(why)
    expect(make).toThrow(LeaseConfigurationError)
  })
})

describe('limits', () => {
  it.each([14_999, 60_001, 0, Number.NaN])('a ttl of %d ms is refused', async (ttl) => {
    await expect(open().acquire(claimOf('limits', { ttl }), never)).rejects.toThrow(/15000 to 60000 ms, or Infinity/)
  })

  it.each([-1, 60_001, Number.NaN])('a break period of %d ms is refused', async (period) => {
    await expect(open().break('limits', { period }, never)).rejects.toThrow(/period must be 0/)
  })
})
