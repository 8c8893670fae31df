import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, akkaBlobStore } from '@leasehold/azure-blob'
import { createLease, LeaseConfigurationError, watchParent } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`parents-${randomUUID()}`)
await container.create()

const times = { heartbeatTimeout: 15_000, heartbeatInterval: 3_000, operationTimeout: 3_000 }

describe('a lease in blobs as the parent of a lease in another process', () => {
  it('is refused: the service does not tell how much time is left of a lease', async () => {
    const store = new AzureBlobLeaseStore(container)
    const parent = createLease(store, 'parent', { ...times, owner: 'one', childGrace: 9_000 })
    expect(await parent.acquire()).toBe(true)
    const child = createLease(store, 'child', { ...times, parent: watchParent(store, 'parent', 'one') })
    const error = await child.acquire().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /azure-blob store does not tell how much time is left.* hold parent and child in the/,
      ),
      leaseName: 'parent',
      store: 'azure-blob',
    })
    expect(child.checkLease()).toBe(false)
    expect(await parent.release()).toBe(true)
  })

  it('is accepted if it does not expire, and its children end soon after a break', async () => {
    const store = new AzureBlobLeaseStore(container)
    const parent = createLease(store, 'endless', {
      heartbeatTimeout: Number.POSITIVE_INFINITY,
      heartbeatInterval: 3_000,
      owner: 'one',
      childGrace: 9_000,
    })
    expect(await parent.acquire()).toBe(true)
    const child = createLease(store, 'ended', { ...times, parent: watchParent(store, 'endless', 'one') })
    expect(await child.acquire({ wait: 15_000 })).toBe(true)
    const lost = new Promise((resolve) => child.once('lost', resolve))
    await store.break('endless', { period: 0 }, never)
    expect(await lost).toMatchObject({ reason: 'parent-lost' })
    await parent.close()
  })

  it('is refused with the layout of Akka: each challenger times the holder by itself', () => {
    expect(() => watchParent(akkaBlobStore(container), 'parent', 'one')).toThrow(
      /each challenger times the holder by itself.* Keep the parent in a store that tells the time left/,
    )
  })
})
