import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, akkaBlobStore } from '@leasehold/azure-blob'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { granted, never } from './support/claims.js'

/** Above the time of the service, in milliseconds. */
const FAR = 10n ** 15n

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`raised-${randomUUID()}`)
await container.create()

const open = (): AzureBlobLeaseStore => new AzureBlobLeaseStore(container)

describe.concurrent('a raised fencing token', () => {
  it('replaces nothing else in the record, nor the entries of others', async () => {
    const store = open()
    const grant = await granted(store, 'job', { metadata: { step: '1' } })
    const conditions = { leaseId: grant.grantId }
    const before = (await store.blobOf('job').getProperties()).metadata ?? {}
    await store.blobOf('job').setMetadata({ ...before, mine: 'kept' }, { conditions })
    expect(await store.raiseToken?.(grant, FAR, never)).toEqual({ renewed: true })
    const { metadata: after = {} } = await store.blobOf('job').getProperties()
    const grantedAt = before.leaseholdgranted?.split('-')[1]
    expect(grantedAt).toMatch(/^\d+$/)
    const changed = { leaseholdtoken: String(FAR), leaseholdgranted: `${FAR}-${grantedAt}` }
    expect(after).toEqual({ ...before, ...changed, mine: 'kept' })
  })

  it('is not written again, and does not become smaller', async () => {
    const store = open()
    const grant = await granted(store, 'again')
    await store.raiseToken?.(grant, FAR, never)
    const { etag } = await store.blobOf('again').getProperties()
    // The first one repeats a request whose answer was lost.
    expect(await store.raiseToken?.(grant, FAR, never)).toEqual({ renewed: true })
    for (const token of [FAR, FAR - 1n, 0n]) {
      expect(await store.raiseToken?.({ ...grant, fencingToken: FAR }, token, never)).toEqual({ renewed: true })
    }
    expect((await store.blobOf('again').getProperties()).etag).toBe(etag)
    expect((await open().read('again', never))?.fencingToken).toBe(FAR)
  })

  it('is in the next grant of a store that did not raise it, and in a record that was removed', async () => {
    const store = open()
    const grant = await granted(store, 'removed')
    await store.blobOf('removed').setMetadata({}, { conditions: { leaseId: grant.grantId } })
    expect(await store.raiseToken?.(grant, FAR, never)).toEqual({ renewed: true })
    await store.release({ ...grant, fencingToken: FAR }, never)
    expect((await granted(open(), 'removed')).fencingToken).toBe(FAR + 1n)
  })

  it('is not possible without records, nor in the layout of Akka, whose writes would remove it', () => {
    expect(new AzureBlobLeaseStore(container, { metadata: false }).raiseToken).toBeUndefined()
    expect(akkaBlobStore(container).raiseToken).toBeUndefined()
  })
})
