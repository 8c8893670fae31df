import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { LeaseConfigurationError, type Metadata, systemClock } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { grantIn, METADATA_ROOM, withGrant } from '../src/stored-grant.js'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`metadata-${randomUUID()}`)
await container.create()

const open = (): AzureBlobLeaseStore => new AzureBlobLeaseStore(container)

const sizeOf = (metadata: Metadata): number =>
  Object.entries(metadata).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)

/** As many entries as possible: their number, not their size, makes a record long. */
function manyEntries(): Metadata {
  const metadata: Record<string, string> = {}
  for (let code = 0; code < 0x80; code += 1) metadata[String.fromCodePoint(code)] = '"'
  for (let code = 0x80; sizeOf(metadata) + 3 <= METADATA_ROOM; code += 1) metadata[String.fromCodePoint(code)] = '"'
  return metadata
}

const atTheLimit: [string, Metadata][] = [
  ['many entries', manyEntries()],
  ['control characters', { k: '\u0001'.repeat(METADATA_ROOM - 1) }],
  ['characters of three bytes', { k: '大'.repeat((METADATA_ROOM - 1) / 3) }],
  ['one empty key', { '': 'x'.repeat(METADATA_ROOM) }],
  ['empty values', { ['k'.repeat(METADATA_ROOM - 1)]: '', x: '' }],
]

describe.concurrent('metadata at the limit of the store', () => {
  it.each(atTheLimit)(
    'fits beside the longest name and owner, and previous of the same size: %s',
    async (_, metadata) => {
      expect(sizeOf(metadata)).toBeLessThanOrEqual(METADATA_ROOM)
      expect(sizeOf(metadata)).toBeGreaterThan(METADATA_ROOM - 4)
      const store = open()
      const name = `${randomUUID()}${'ж'.repeat((1_024 - 36) / 2)}`
      const owner = 'щ'.repeat(512)
      const first = await granted(store, name, { owner, metadata })
      await store.release(first, never)
      const claim = claimOf(name, { owner, metadata })
      expect(await store.acquire(claim, never)).toMatchObject({ granted: true, previous: metadata })
      expect(await store.read(name, never)).toMatchObject({ name, owner, metadata, previous: metadata })
    },
  )

  it('is exceeded by one byte', async () => {
    const claimed = open().acquire(claimOf('long', { metadata: { k: 'x'.repeat(METADATA_ROOM) } }), never)
    await expect(claimed).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})

describe.concurrent('previous', () => {
  it('is kept when the process of a challenger ends between the lease and the record', async () => {
    const store = open()
    await store.release(await granted(store, 'crashed', { metadata: { step: '1' } }), never)
    await store.blobOf('crashed').getBlobLeaseClient(randomUUID()).acquireLease(15)
    expect(await store.read('crashed', never)).toMatchObject({ owner: '', metadata: {} })
    await store.blobOf('crashed').getBlobLeaseClient().breakLease(0)
    const next = await store.acquire(claimOf('crashed'), never)
    expect(next).toMatchObject({ granted: true, previous: { step: '1' } })
  })

  it('is the same when the same request takes the lease first and writes the record later', async () => {
    const store = open()
    await store.release(await granted(store, 'late', { metadata: { step: '1' } }), never)
    const claim = claimOf('late', { metadata: { step: '2' } })
    await store.blobOf('late').getBlobLeaseClient(claim.grantId).acquireLease(15)
    const expected = { granted: true, previous: { step: '1' } }
    expect(await store.acquire(claim, never)).toMatchObject(expected)
    expect(await store.acquire(claim, never)).toMatchObject(expected)
    expect(await store.acquire({ ...claim, metadata: { step: '3' } }, never)).toMatchObject(expected)
    const shown = { metadata: { step: '3' }, previous: { step: '1' } }
    expect(await store.read('late', never)).toMatchObject(shown)
  })

  it('is absent for a new name, and where the record was removed', async () => {
    const store = open()
    const first = await store.acquire(claimOf('removed', { metadata: { step: '1' } }), never)
    expect(first).not.toHaveProperty('previous')
    await store.break('removed', { period: 0 }, never)
    await store.blobOf('removed').setMetadata({})
    expect(await store.acquire(claimOf('removed'), never)).not.toHaveProperty('previous')
  })

  it('is the metadata of the last release', async () => {
    const store = open()
    const grant = await granted(store, 'left', { metadata: { step: '1' } })
    expect(await store.release(grant, never, { step: '2' })).toEqual({ released: true })
    expect(await store.read('left', never)).toMatchObject({ state: 'available', metadata: { step: '2' } })
    expect(await store.release(grant, never, { step: '3' })).toMatchObject({ released: false })
    const next = await store.acquire(claimOf('left'), never)
    expect(next).toMatchObject({ granted: true, previous: { step: '2' } })
    expect(await store.release(grant, never, { step: '4' })).toMatchObject({
      released: false,
      holder: { owner: 'anna' },
    })
    expect(await store.read('left', never)).toMatchObject({ metadata: { step: '2' }, previous: { step: '2' } })
  })

  it('of a record from before it existed is absent, and its texts are read', () => {
    const entries = { leaseholdowner: 'a%2Bb', leaseholdgrant: 'g', leaseholdtoken: '7', leaseholdttl: '15000' }
    const old = { ...entries, leaseholdmetadata: encodeURIComponent('{"k":"v\\ud800"}') }
    const stored = { name: 'n', owner: 'a+b', grantId: 'g', fencingToken: 7n, ttl: 15_000, metadata: { k: 'v\ud800' } }
    expect(grantIn('n', old)).toEqual(stored)
    // A lone surrogate has no UTF-8.
    expect(grantIn('n', withGrant({}, stored))).toEqual(stored)
  })
})

describe.concurrent('an update', () => {
  it('replaces the metadata, keeps the user entries of the blob, and costs the next grant no pause', async () => {
    let pauses = 0
    const schedule = (delay: number, task: () => void) => {
      pauses += 1
      return systemClock.schedule(delay, task)
    }
    const clock = { now: () => systemClock.now(), schedule }
    const store = new AzureBlobLeaseStore(container, { clock })
    await store.blobOf('updated').upload('of the user', 11, { metadata: { colour: 'blue' } })
    const grant = await granted(store, 'updated', { metadata: { step: '1' } })
    expect(await store.update(grant, { step: '2' }, never)).toEqual({ renewed: true })
    expect((await store.blobOf('updated').getProperties()).metadata).toMatchObject({ colour: 'blue' })
    expect(await store.read('updated', never)).toMatchObject({
      grantId: grant.grantId,
      fencingToken: grant.fencingToken,
      metadata: { step: '2' },
    })
    await store.release(grant, never)
    pauses = 0
    expect(await store.acquire(claimOf('updated'), never)).toMatchObject({ previous: { step: '2' } })
    expect(pauses).toBe(0)
  })

  it('of a grant that is over changes nothing', async () => {
    const store = open()
    const grant = await granted(store, 'over')
    await store.break('over', { period: 0 }, never)
    expect(await store.update(grant, { step: '2' }, never)).toEqual({ renewed: false, reason: 'broken' })
    const next = await granted(store, 'over', { owner: 'berta' })
    expect(await store.update(grant, { step: '2' }, never)).toMatchObject({
      reason: 'taken',
      holder: { owner: 'berta' },
    })
    expect(await store.read('over', never)).toMatchObject({ grantId: next.grantId, metadata: {} })
    expect(await store.update({ ...grant, name: 'none' }, {}, never)).toEqual({ renewed: false, reason: 'deleted' })
  })

  it('writes the record again if it was lost under the lease', async () => {
    const store = open()
    const grant = await granted(store, 'lost')
    const conditions = { leaseId: grant.grantId }
    await store.blobOf('lost').setMetadata({ colour: 'blue' }, { conditions })
    expect(await store.update(grant, { step: '2' }, never)).toEqual({ renewed: true })
    await pause(1)
    expect(await store.read('lost', never)).toMatchObject({
      grantId: grant.grantId,
      fencingToken: grant.fencingToken,
      metadata: { step: '2' },
    })
  })
})
