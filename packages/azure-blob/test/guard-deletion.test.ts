import { randomUUID } from 'node:crypto'
import { AzureBlobGuard } from '@leasehold/azure-blob'
import { LeaseLostError } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`deletion-${randomUUID()}`)
await container.create()

describe('a deletion through the guard', () => {
  const guard = new AzureBlobGuard(container)
  const upload = (blobName: string, token: bigint): Promise<unknown> => guard.write(blobName, token, 'text')

  it.each(['delete', 'deleteIfExists'] as const)(
    'by %s of the client leaves an empty blob with the fence',
    async (how) => {
      const name = `deleted by ${how}`
      await container.getBlockBlobClient(name).upload('text', 4, { metadata: { colour: 'blue' } })
      await guard.transact(name, 400n, (blob, { conditions }) => blob[how]({ conditions }))
      const { metadata, contentLength } = await container.getBlobClient(name).getProperties()
      expect(contentLength).toBe(0)
      expect(metadata).toEqual({ leaseholdfence: '400', leaseholddeleted: 'true' })
      await expect(upload(name, 1n)).rejects.toThrow(LeaseLostError)
    },
  )

  it('is refused after a larger token has written, whatever conditions it is given', async () => {
    await upload('overtaken deletion', 1n)
    const late = guard.transact('overtaken deletion', 5n, async (blob) => {
      await upload('overtaken deletion', 6n)
      const { etag = '' } = await container.getBlobClient('overtaken deletion').getProperties()
      await blob.delete({ conditions: { ifMatch: etag } })
    })
    await expect(late).rejects.toThrow(LeaseLostError)
    expect(await container.getBlobClient('overtaken deletion').downloadToBuffer()).toHaveLength(4)
  })

  it('is over with the next write, which removes the mark', async () => {
    await guard.delete('created again', 3n)
    await upload('created again', 4n)
    expect((await container.getBlobClient('created again').getProperties()).metadata).toEqual({ leaseholdfence: '4' })
  })

  it('needs the lease of a blob that is leased', async () => {
    const leased = container.getBlockBlobClient('leased and deleted')
    await leased.upload('text', 4)
    const { leaseId = '' } = await leased.getBlobLeaseClient(randomUUID()).acquireLease(60)
    await expect(guard.delete('leased and deleted', 1n)).rejects.toThrow(/LeaseIdMissing/)
    await guard.transact('leased and deleted', 1n, (blob) => blob.delete({ conditions: { leaseId } }))
    expect((await leased.getProperties()).contentLength).toBe(0)
  })

  it('ends with its time limit', async () => {
    await upload('limited deletion', 1n)
    await expect(guard.delete('limited deletion', 1n, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
    expect((await container.getBlobClient('limited deletion').getProperties()).contentLength).toBe(4)
  })
})

describe('an error of the user', () => {
  it('that looks like a lost race runs the write once', async () => {
    const guard = new AzureBlobGuard(container)
    await container.getBlockBlobClient('elsewhere').upload('', 0)
    let runs = 0
    const failed = guard.transact('run once', 1n, async () => {
      runs += 1
      await container.getBlockBlobClient('elsewhere').upload('', 0, { conditions: { ifNoneMatch: '*' } })
    })
    await expect(failed).rejects.toMatchObject({ name: 'RestError', statusCode: 409 })
    expect(runs).toBe(1)
  })

  it('about the lease of another blob passes through unchanged', async () => {
    const other = container.getBlockBlobClient('leased elsewhere')
    await other.upload('', 0)
    await other.getBlobLeaseClient(randomUUID()).acquireLease(60)
    const failed = new AzureBlobGuard(container).transact('unleased', 1n, () => other.upload('', 0))
    await expect(failed).rejects.toMatchObject({ name: 'RestError', code: 'LeaseIdMissing' })
  })
})
