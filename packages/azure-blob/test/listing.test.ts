import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import type { LeaseRecord } from '@leasehold/core'
import { afterAll, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { granted, never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const names = ['job', 'job-2', 'Job 1', 'a/b', 'a.b', 'заявка', 'x'.repeat(1_024), `${'x'.repeat(1_023)}y`, '~20', '😀']

async function recordsOf(store: AzureBlobLeaseStore, prefix = ''): Promise<LeaseRecord[]> {
  const records: LeaseRecord[] = []
  for await (const record of store.list(prefix, never)) records.push(record)
  return records
}

it.each([
  ['blobs', () => new AzureBlobLeaseStore(azurite.container(`listed-${randomUUID()}`), { prefix: 'leases/' })],
  ['containers', () => new AzureBlobLeaseStore(azurite.service(), { prefix: 'listed-' })],
])('%s are listed under their names as given, held and released', { timeout: 60_000 }, async (_, open) => {
  const store = open()
  expect(await recordsOf(store)).toEqual([])
  for (const name of names) {
    const grant = await granted(store, name, { metadata: { step: '1' } })
    if (name === 'a/b') await store.release(grant, never)
  }
  const records = await recordsOf(store)
  expect(records.map(({ name }) => name).sort()).toEqual([...names].sort())
  for (const record of records) expect(record).toEqual(await store.read(record.name, never))
  for (const prefix of ['job', 'a', 'a/', 'xxx', 'x'.repeat(1_023), 'Job ', '😀', 'за', 'none']) {
    const expected = names.filter((name) => name.startsWith(prefix)).sort()
    expect((await recordsOf(store, prefix)).map(({ name }) => name).sort(), prefix).toEqual(expected)
  }
  // Half of a surrogate pair.
  expect((await recordsOf(store, '\ud83d')).map(({ name }) => name)).toEqual(['😀'])
})

it('blobs without a lease are left out, and copies are listed under their own names', async () => {
  const container = azurite.container(`foreign-${randomUUID()}`)
  const store = new AzureBlobLeaseStore(container)
  await granted(store, 'job', { metadata: { step: '1' } })
  const { metadata = {} } = await store.blobOf('job').getProperties()
  await container.getBlockBlobClient('copy').upload('', 0, { metadata })
  await container.getBlockBlobClient('copy/nested').upload('', 0, { metadata })
  await container.getBlockBlobClient('none').upload('', 0)
  const leased = container.getBlockBlobClient('leased')
  await leased.upload('', 0)
  await leased.getBlobLeaseClient(randomUUID()).acquireLease(15)
  const records = await recordsOf(store)
  expect(records.map(({ name, owner }) => [name, owner]).sort()).toEqual([
    ['copy', 'anna'],
    ['job', 'anna'],
    ['leased', ''],
  ])
})

it('a blob whose record has no name is listed under the decoded name', async () => {
  const container = azurite.container(`earlier-${randomUUID()}`)
  await container.create()
  const metadata = { leaseholdowner: 'a', leaseholdgrant: 'g', leaseholdtoken: '7', leaseholdttl: '15000' }
  for (const blobName of ['Job~201', '~d0~b7', '~41', 'Job%201']) {
    await container.getBlockBlobClient(blobName).upload('', 0, { metadata })
  }
  const records = await recordsOf(new AzureBlobLeaseStore(container))
  expect(records.map(({ name }) => name).sort()).toEqual(['Job 1', 'з'])
})

it('more blobs than fit into one answer are listed, each once', { timeout: 120_000 }, async () => {
  const container = azurite.container(`many-${randomUUID()}`)
  await container.create()
  const store = new AzureBlobLeaseStore(container)
  const entries = { leaseholdowner: 'a', leaseholdgrant: 'g', leaseholdtoken: '7', leaseholdttl: '15000' }
  const count = 1_100
  const upload = (number: number) => container.getBlockBlobClient(`n${number}`).upload('', 0, { metadata: entries })
  for (let from = 0; from < count; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, offset) => upload(from + offset)))
  }
  const records = await recordsOf(store, 'n')
  expect(records.length).toBe(count)
  expect(new Set(records.map(({ name }) => name)).size).toBe(count)
})

it('a closed store rejects', async () => {
  const store = new AzureBlobLeaseStore(azurite.container('closed'))
  await store.close()
  await expect(recordsOf(store)).rejects.toThrow('the azure-blob store is closed')
})
