import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { turnsOf } from '@leasehold/testing'
import { afterAll, expect, it } from 'vitest'
import { breakIdle, releaseUnchanged } from './readme/conditions.js'
import { writeUnderLease } from './readme/own-blob.js'
import { appendToReport } from './readme/own-report.js'
import { publishOnce } from './readme/report.js'
import { createStore } from './readme/request-ids.js'
import { Azurite } from './support/azurite.js'
import { never, TTL } from './support/claims.js'
import { times } from './support/proxied.js'
import { ServiceProxy } from './support/service-proxy.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

it('gives two processes with the first program of the guide their turns', async () => {
  expect(new Set(await turnsOf(firstLease, { AZURE_STORAGE_CONNECTION_STRING: azurite.connectionString() })).size).toBe(
    2,
  )
})

it('the example of the README writes under the lease and the guard', async () => {
  const container = azurite.container(`readme-${randomUUID()}`)
  await publishOnce(container, 'first')
  await publishOnce(container, 'second')
  expect(String(await container.getBlobClient('report.txt').downloadToBuffer())).toBe('second')
})

it('a report of the user is written under a lease of its own name, and is not written otherwise', async () => {
  const container = azurite.container(`readme-${randomUUID()}`)
  await container.create()
  const blob = container.getBlockBlobClient('reports/2024.csv')
  await blob.upload('', 0)
  await appendToReport(container, 'one')
  const etag = await appendToReport(container, 'two')
  expect(String(await blob.downloadToBuffer())).toBe('one\ntwo\n')
  expect(await blob.getProperties()).toMatchObject({ etag, metadata: {} })
})

it('the blob of the lease is written under its conditions, and keeps the record', async () => {
  const store = new AzureBlobLeaseStore(azurite.container(`readme-${randomUUID()}`))
  const lease = createAzureBlobLease(store, 'own', { ...times, heartbeatTimeout: TTL })
  await lease.acquire()
  await writeUnderLease(lease, 'text')
  expect(await store.read('own', never)).toMatchObject({ state: 'leased', owner: lease.settings.owner })
  await store.break('own', { period: 0 }, never)
  await expect(writeUnderLease(lease, 'late')).rejects.toMatchObject({ statusCode: 412 })
  expect(String(await lease.blob.downloadToBuffer())).toBe('text')
  await lease.close()
})

it('the requests of the store have ids by which its logs can be searched', async (test) => {
  const proxy = await ServiceProxy.start(azurite.port)
  test.onTestFinished(() => proxy.stop())
  await createStore(azurite.service(undefined, proxy.port).getContainerClient('unused')).read('own', never)
  expect(proxy.requests.map(({ clientRequestId }) => clientRequestId)).toEqual([
    expect.stringMatching(/^billing read [-0-9a-f]{36}$/),
  ])
})

it('a lease is released, and broken, only if its blob was not written since', async () => {
  const container = azurite.container(`readme-${randomUUID()}`)
  await container.create()
  await container.getBlockBlobClient('own').upload('', 0)
  const store = new AzureBlobLeaseStore(container, { names: 'exact', metadata: false })
  const lease = createAzureBlobLease(store, 'own', { ...times, heartbeatTimeout: TTL })
  await lease.acquire({ wait: TTL })
  const { etag = '', lastModified = new Date(0) } = await lease.blob.getProperties()
  await lease.blob.upload('text', 4, { conditions: lease.conditions() })
  expect(await releaseUnchanged(lease, etag)).toBe(false)
  expect(lease.checkLease()).toBe(true)
  await expect(breakIdle(store, 'own', new Date(lastModified.getTime() - 60_000))).rejects.toThrow(/was written after/)
  expect(await releaseUnchanged(lease, (await lease.blob.getProperties()).etag ?? '')).toBe(true)
})
