import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { afterAll, expect, it } from 'vitest'
import { writeUnderLease } from './readme/own-blob.js'
import { publishOnce } from './readme/report.js'
import { Azurite } from './support/azurite.js'
import { never, TTL } from './support/claims.js'
import { times } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

it('the example of the README writes under the lease and the guard', async () => {
  const container = azurite.container(`readme-${randomUUID()}`)
  await publishOnce(container, 'first')
  await publishOnce(container, 'second')
  expect(String(await container.getBlobClient('report.txt').downloadToBuffer())).toBe('second')
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
