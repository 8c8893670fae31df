import { randomUUID } from 'node:crypto'
import { AzureBlobGuard, AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { restFailureOf } from '../src/service-answer.js'
import { Azurite } from './support/azurite.js'
import { granted, never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`guard-${randomUUID()}`)
await container.create()
const store = new AzureBlobLeaseStore(container)
// The longest ttl of the service: a busy machine takes seconds for concurrent requests.
const times = { heartbeatTimeout: 60_000, heartbeatInterval: 10_000, operationTimeout: 20_000 }

async function statusOf(request: Promise<unknown>): Promise<number | undefined> {
  return await request.then(
    () => 200,
    (error) => restFailureOf(error)?.statusCode,
  )
}

describe.concurrent('the conditions of a lease', () => {
  it('let only its holder write the blob', async () => {
    const lease = createAzureBlobLease(store, 'conditions', times)
    await lease.acquire()
    expect(await statusOf(lease.blob.upload('mine', 4, { conditions: lease.conditions() }))).toBe(200)
    expect(await statusOf(lease.blob.upload('theirs', 6))).toBe(412)
    await lease.release()
  })

  it.each(['broken', 'released', 'taken'] as const)('are rejected with 412 after the lease is %s', async (how) => {
    const lease = createAzureBlobLease(store, `conditions, ${how}`, times)
    await lease.acquire()
    const conditions = lease.conditions()
    const client = lease.blob.getBlobLeaseClient(conditions.leaseId)
    // Behind the back of the holder, as after a pause of its process.
    if (how === 'released') await client.releaseLease()
    else await client.breakLease(0)
    if (how === 'taken') await lease.blob.getBlobLeaseClient(randomUUID()).acquireLease(15)
    expect(lease.checkLease()).toBe(true)
    expect(await statusOf(lease.blob.upload('late', 4, { conditions }))).toBe(412)
    await lease.close()
  })

  it('are not available while the lease is not held', async () => {
    const lease = createAzureBlobLease(store, 'conditions, not held', times)
    expect(() => lease.conditions()).toThrow(LeaseLostError)
    await lease.acquire()
    await lease.release()
    expect(() => lease.conditions()).toThrow(/'conditions, not held' is not held/)
  })
})

describe.concurrent('a fenced write', () => {
  const guard = new AzureBlobGuard(container)
  const write = (blobName: string, token: bigint, text: string): Promise<unknown> => guard.write(blobName, token, text)
  const read = async (blobName: string): Promise<string> =>
    String(await container.getBlobClient(blobName).downloadToBuffer())

  it('is rejected after a write with a larger token, also from a holder that was paused', async () => {
    await write('report', 7n, 'first')
    await write('report', 7n, 'again')
    await write('report', 9n, 'successor')
    await expect(write('report', 8n, 'late')).rejects.toThrow(LeaseLostError)
    await expect(write('report', 8n, 'late')).rejects.toThrow(/token 8 for 'report' is older than 9/)
    expect(await read('report')).toBe('successor')
  })

  it('keeps the metadata of the blob', async () => {
    await container.getBlockBlobClient('tagged').upload('', 0, { metadata: { colour: 'blue' } })
    await write('tagged', 1n, 'text')
    expect((await container.getBlobClient('tagged').getProperties()).metadata).toMatchObject({ colour: 'blue' })
  })

  it('that lost a race against another write compares again, and writes', async () => {
    let races = 0
    const late = guard.transact('raced', 3n, async (blob, fenced) => {
      races += 1
      if (races === 1) await write('raced', 4n, 'successor')
      await blob.upload('late', 4, { ...fenced })
    })
    await expect(late).rejects.toThrow(LeaseLostError)
    expect(races).toBe(1)
    expect(await read('raced')).toBe('successor')
  })

  it('of four at once ends with the largest token', async () => {
    const tokens = Array.from({ length: 4 }, (_, place) => BigInt(place + 1))
    const outcomes = await Promise.allSettled(tokens.map((token) => write('contended', token, `by ${token}`)))
    expect(outcomes[3]?.status).toBe('fulfilled')
    expect(await read('contended')).toBe('by 4')
  })

  it('rejects if other writers are faster again and again', async () => {
    const beaten = guard.transact('beaten', 3n, async (blob, fenced) => {
      await blob.upload('other', 5, { metadata: { leaseholdfence: '2' } })
      await blob.upload('never', 5, { ...fenced })
    })
    await expect(beaten).rejects.toThrow(LeaseUnavailableError)
    expect(await read('beaten')).toBe('other')
  })

  it('to a leased blob is rejected at once, with the reason', async () => {
    const leased = container.getBlockBlobClient('leased')
    await leased.upload('', 0)
    await leased.getBlobLeaseClient().acquireLease(60)
    await expect(write('leased', 1n, 'text')).rejects.toThrow(/LeaseIdMissing/)
  })

  it('ends with its time limit', async () => {
    const limit = new AbortController()
    const late = guard.transact(
      'limited',
      1n,
      async (blob, fenced) => {
        limit.abort('enough')
        await blob.upload('late', 4, { ...fenced })
      },
      { signal: limit.signal },
    )
    await expect(late).rejects.toBe('enough')
    expect(await container.getBlobClient('limited').exists()).toBe(false)
  })

  it('names an invalid token of a blob, and rejects invalid tokens', async () => {
    await container.getBlockBlobClient('odd').upload('', 0, { metadata: { leaseholdfence: 'x' } })
    await expect(write('odd', 1n, 'text')).rejects.toThrow(/stored with 'odd' is not a number: x/)
    await expect(write('odd', -1n, 'text')).rejects.toThrow(LeaseConfigurationError)
    await expect(write('odd', 1 as unknown as bigint, 'text')).rejects.toThrow(
      /bigint of 0 or more, or the text of its digits, not 1/,
    )
  })

  it('of a lease that was lost without notice has its own error', async () => {
    // Without heartbeats, by which the late one would learn of it.
    const late = await granted(store, 'fenced')
    await store.break('fenced', { period: 0 }, never)
    const successor = await granted(store, 'fenced')
    await write('fenced report', successor.fencingToken, 'successor')
    await expect(write('fenced report', late.fencingToken, 'late')).rejects.toThrow(LeaseLostError)
    expect(await read('fenced report')).toBe('successor')
  })
})
