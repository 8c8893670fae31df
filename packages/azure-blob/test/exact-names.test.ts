import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, type AzureBlobLeaseStoreOptions, createAzureBlobLease } from '@leasehold/azure-blob'
import {
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseNameError,
  listLeases,
  readLease,
  systemClock,
} from '@leasehold/core'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never, TTL } from './support/claims.js'
import { times } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const REPORT = 'reports/2024.csv'

/** The user's own blob, and a store of leases on it. */
async function setUp(options: AzureBlobLeaseStoreOptions = {}) {
  const container = azurite.container(`exact-${randomUUID()}`)
  await container.create()
  const blob = container.getBlockBlobClient(REPORT)
  await blob.upload('old', 3, { metadata: { colour: 'blue' } })
  const open = () => new AzureBlobLeaseStore(container, { names: 'exact', ...options })
  return { container, blob, open, store: open() }
}

async function stampOf({ blob }: Awaited<ReturnType<typeof setUp>>) {
  const { etag, lastModified, metadata } = await blob.getProperties()
  return { etag, lastModified, metadata }
}

describe.concurrent('with exact names, a lease on the own blob', () => {
  it.each([true, false])(
    'makes the service reject the writes and deletions of others (metadata: %s)',
    async (metadata) => {
      const { blob, store } = await setUp({ metadata })
      const lease = createAzureBlobLease(store, REPORT, times)
      expect(await lease.acquire()).toBe(true)
      await expect(blob.upload('theirs', 6)).rejects.toMatchObject({ statusCode: 412, code: 'LeaseIdMissing' })
      await expect(blob.delete()).rejects.toMatchObject({ statusCode: 412 })
      await lease.blob.upload('ours', 4, { conditions: lease.conditions() })
      expect(await lease.release()).toBe(true)
      await blob.upload('theirs', 6)
    },
  )

  it('keeps the content and the metadata of the blob, and has its record beside them', async () => {
    const { blob, store } = await setUp()
    await granted(store, REPORT, { owner: 'anna' })
    expect((await blob.getProperties()).metadata).toMatchObject({ colour: 'blue', leaseholdowner: 'anna' })
    expect(String(await blob.downloadToBuffer())).toBe('old')
    expect(await readLease(store, REPORT)).toMatchObject({ name: REPORT, owner: 'anna', state: 'leased' })
  })

  it('does not create what is missing, unless create is on', async () => {
    const { container, store, open } = await setUp()
    await expect(store.acquire(claimOf('missing'), never)).rejects.toThrow(/blob of lease 'missing' does not exist/)
    expect(await container.getBlobClient('missing').exists()).toBe(false)
    await expect((await setUp({ metadata: false })).store.acquire(claimOf('missing'), never)).rejects.toThrow(
      LeaseConfigurationError,
    )
    await granted(new AzureBlobLeaseStore(container, { names: 'exact', create: true }), 'missing')
    expect((await open().read('missing', never))?.state).toBe('leased')
  })

  it('is listed by the name of the blob, with its prefix removed', async () => {
    const { container, store } = await setUp()
    await granted(store, REPORT)
    const names = async (of: AzureBlobLeaseStore, prefix?: string) => {
      const found: string[] = []
      for await (const { name } of listLeases(of, prefix)) found.push(name)
      return found
    }
    expect(await names(store)).toEqual([REPORT])
    expect(await names(store, 'other/')).toEqual([])
    expect(await names(new AzureBlobLeaseStore(container, { names: 'exact', prefix: 'reports/' }))).toEqual([
      '2024.csv',
    ])
  })

  it.each(['a/../b', './a', 'a.', 'a/', 'a\\b', 'a\nb', 'x'.repeat(1_025)])('has no name like %j', async (name) => {
    const { store } = await setUp()
    await expect(store.acquire(claimOf(name), never)).rejects.toThrow(LeaseNameError)
  })

  it.each(['with space', 'ü/ö', 'a%2fb', 'a?b#c', 'a~b', 'A.b.c', '+', '"'])(
    'is on the blob %j itself',
    async (name) => {
      const { container, store } = await setUp()
      await container.getBlockBlobClient(name).upload('', 0)
      await granted(store, name)
      expect((await container.getBlobClient(name).getProperties()).leaseState).toBe('leased')
    },
  )
})

describe.concurrent('with exact names, a lease on the own container', () => {
  it.each([true, false])('makes the service reject its deletion (metadata: %s)', async (metadata) => {
    const name = `user-data-${randomUUID().slice(0, 8)}`
    const container = azurite.container(name)
    const { etag } = await container.create()
    const store = new AzureBlobLeaseStore(azurite.service(), { names: 'exact', metadata })
    const grant = await granted(store, name)
    await expect(container.delete()).rejects.toMatchObject({ statusCode: 412, code: 'LeaseIdMissing' })
    expect((await container.getProperties()).etag === etag).toBe(!metadata)
    await store.release(grant, never)
    await container.delete()
  })

  it.each(['ab', 'User', 'a--b', '-ab', 'a_b'])('has no name like %j', async (name) => {
    const store = new AzureBlobLeaseStore(azurite.service(), { names: 'exact' })
    await expect(store.acquire(claimOf(name), never)).rejects.toThrow(LeaseNameError)
  })

  it.each([true, false])('is acquired only in the version that was asked for (metadata: %s)', async (metadata) => {
    const name = `user-data-${randomUUID().slice(0, 8)}`
    const container = azurite.container(name)
    await container.create()
    const lease = createAzureBlobLease(new AzureBlobLeaseStore(azurite.service(), { names: 'exact', metadata }), name, {
      ...times,
      operationTimeout: 4_500,
    })
    await lease.acquire({ wait: 30_000 })
    expect(lease.etag).toBe((await container.getProperties()).etag)
    await lease.release()
    const ifMatch = lease.etag ?? ''
    await container.setMetadata({ colour: 'blue' })
    await expect(lease.acquire({ ifMatch })).rejects.toThrow(/has changed since version/)
  })
})

describe.concurrent('without metadata', () => {
  it('no operation writes to the blob: ETag, time of the last write and metadata stay', async () => {
    const scene = await setUp({ metadata: false })
    const { store } = scene
    const before = await stampOf(scene)
    const grant = await granted(store, REPORT)
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    expect(await store.update(grant, {}, never)).toEqual({ renewed: true })
    const to = { grantId: randomUUID(), owner: 'bert' }
    const outcome = await store.change(grant, to, never)
    if (!outcome.granted) throw new Error('not changed')
    expect(outcome.grant.fencingToken).toBeGreaterThan(grant.fencingToken)
    expect((await store.acquire(claimOf(REPORT), never)).granted).toBe(false)
    expect(await store.release(outcome.grant, never, {})).toEqual({ released: true })
    const broken = await granted(store, REPORT)
    await store.break(REPORT, { period: 0, reason: 'why' }, never)
    expect(await store.renew(broken, never)).toMatchObject({ renewed: false, reason: 'broken' })
    expect(await stampOf(scene)).toEqual(before)
  })

  it('each grant has a larger token, by several stores, though the service tells whole seconds', async () => {
    const { open } = await setUp({ metadata: false })
    let last = 0n
    for (const store of [open(), open(), open()]) {
      const grant = await granted(store, REPORT)
      await store.release(grant, never)
      expect(grant.fencingToken).toBeGreaterThan(last)
      last = grant.fencingToken
    }
  })

  it('a grant that is broken before its second is over is not reported', async () => {
    const { store, blob } = await setUp({ metadata: false })
    const first = store.acquire(claimOf(REPORT), never)
    const theirs = blob.getBlobLeaseClient(randomUUID())
    const breaks = (): Promise<boolean> =>
      theirs.breakLease(0).then(
        () => true,
        () => false,
      )
    // Another client breaks the lease as soon as it was taken, and takes it.
    await vi.waitUntil(breaks, { interval: 5, timeout: 20_000 })
    await theirs.acquireLease(60)
    expect(await first).toMatchObject({ granted: false })
  })

  it('the holder is unknown, and no stale record is taken for it', async () => {
    const { open, store, container } = await setUp({ metadata: false })
    const recording = new AzureBlobLeaseStore(container, { names: 'exact' })
    await recording.release(await granted(recording, REPORT), never)
    await granted(store, REPORT)
    const unknown = await open().read(REPORT, never)
    expect(unknown).toMatchObject({ owner: '', grantId: '', state: 'leased', metadata: {}, duration: 'fixed' })
    // The service does not tell how much time is left, nor of how much.
    expect(unknown).not.toHaveProperty('remaining')
    expect(unknown).not.toHaveProperty('ttl')
  })

  it('the store that made the grant knows its holder, and the time left by the local clock', async () => {
    const { open, store } = await setUp({ metadata: false })
    const startedAt = systemClock.now()
    const { etag: _, ...grant }: Grant & { etag?: string } = await granted(store, REPORT, { owner: 'anna' })
    const { remaining = 0, ...record } = (await store.read(REPORT, never)) ?? {}
    expect(record).toEqual({ ...grant, state: 'leased', metadata: {}, duration: 'fixed' })
    // The pause of a second is over before a grant is reported.
    expect(remaining).toBeLessThanOrEqual(TTL - 1_000)
    expect(remaining).toBeGreaterThanOrEqual(TTL - (systemClock.now() - startedAt))
    const renewedAt = systemClock.now()
    await store.renew(grant, never)
    const renewed = (await store.read(REPORT, never))?.remaining ?? 0
    expect(renewed).toBeGreaterThanOrEqual(TTL - (systemClock.now() - renewedAt))
    expect(renewed).toBeLessThanOrEqual(TTL)
    await store.break(REPORT, { period: 0 }, never)
    expect(await store.read(REPORT, never)).toMatchObject({ owner: '', state: 'broken' })
    // Another store's grant is not taken for the last one of this store.
    await granted(open(), REPORT)
    expect(await store.read(REPORT, never)).toMatchObject({ owner: '', state: 'leased' })
  })

  it('a lease that does not expire says so, to everybody', async () => {
    const { open, store } = await setUp({ metadata: false })
    await granted(store, REPORT, { ttl: Number.POSITIVE_INFINITY })
    const endless = { ttl: Number.POSITIVE_INFINITY, remaining: Number.POSITIVE_INFINITY, duration: 'infinite' }
    expect(await open().read(REPORT, never)).toMatchObject({ owner: '', state: 'leased', ...endless })
    for await (const listed of listLeases(open())) expect(listed).toMatchObject(endless)
    expect(await open().acquire(claimOf(REPORT), never)).toMatchObject({ granted: false, holder: endless })
    expect(await readLease(open(), REPORT)).toMatchObject({ expiresAt: Number.POSITIVE_INFINITY })
  })

  it('there is no room for metadata', async () => {
    const { store } = await setUp({ metadata: false })
    const lease = createAzureBlobLease(store, REPORT, times)
    await expect(lease.acquire({ metadata: { a: 'b' } })).rejects.toThrow(/no room for it/)
  })
})

describe.concurrent('ETags', () => {
  it.each([true, false])('tell whether the blob was written since the release (metadata: %s)', async (metadata) => {
    const { blob, store } = await setUp({ metadata })
    const lease = createAzureBlobLease(store, REPORT, times)
    expect(lease.etag).toBeUndefined()
    await lease.acquire({ wait: 10_000 })
    const atGrant = lease.etag
    expect(atGrant).toBe((await blob.getProperties()).etag)
    const { etag: written } = await blob.upload('new', 3, { conditions: lease.conditions() })
    await lease.release()
    expect(lease.etag).toBe(written)
    expect(lease.etag).not.toBe(atGrant)
    const [ifMatch = ''] = [lease.etag]
    expect(await lease.acquire({ ifMatch })).toBe(true)
    await lease.release()
    await blob.upload('by another', 10)
    const late = lease.acquire({ ifMatch: lease.etag ?? '' })
    await expect(late).rejects.toThrow(LeaseConflictError)
    await expect(late).rejects.toThrow(/has changed since version/)
    expect((await blob.getProperties()).leaseState).toBe('available')
  })

  it('do not stand in the way of a repeated request', async () => {
    const { blob, store } = await setUp()
    const { etag: ifMatch = '' } = await blob.getProperties()
    const claim = claimOf(REPORT, { ifMatch })
    expect((await store.acquire(claim, never)).granted).toBe(true)
    expect((await store.acquire(claim, never)).granted).toBe(true)
  })
})
