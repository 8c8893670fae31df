import { randomUUID } from 'node:crypto'
import { type AzureBlobLease, AzureBlobLeaseStore, azureBlobLease, type ClientRequestId } from '@leasehold/azure-blob'
import { LeaseConfigurationError, LeaseProvider } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never, TTL } from './support/claims.js'
import { type Finishing, Proxied } from './support/proxied.js'
import { ServiceProxy } from './support/service-proxy.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const failing = { kind: 'answer', status: 500, headers: { 'x-ms-request-id': 'id-7' } } as const

/** A store with client request ids, on blobs or on containers, behind a proxy that keeps the requests. */
async function identified(test: Finishing, clientRequestId: ClientRequestId, resource: 'blob' | 'container' = 'blob') {
  const proxy = await ServiceProxy.start(azurite.port)
  test.onTestFinished(() => proxy.stop())
  const service = azurite.service(undefined, proxy.port)
  const container = service.getContainerClient(`ids-${randomUUID()}`)
  const client = resource === 'blob' ? container : service
  const store = new AzureBlobLeaseStore(client, { clientRequestId, ...(resource === 'blob' ? {} : { prefix: 'ids-' }) })
  const sent = () => proxy.requests.splice(0).map((request) => request.clientRequestId)
  return { proxy, container, store, sent }
}

it('an error has the id of the request at the service, for its support', async (test) => {
  const { proxy, store } = await Proxied.open(test, azurite)
  proxy.behave(() => failing)
  const failed = store.acquire(claimOf('job'), never)
  await expect(failed).rejects.toThrow('[x-ms-request-id id-7, x-ms-client-request-id ')
  await expect(failed).rejects.toMatchObject({ name: 'LeaseUnavailableError', cause: { requestId: 'id-7' } })
})

describe('the client request id', () => {
  it.each(['blob', 'container'] as const)('of a store on a %s goes out with every request', async (resource) => {
    const ends: (() => unknown)[] = []
    const { store, sent } = await identified({ onTestFinished: (end) => ends.push(end) }, 'worker 7', resource)
    const grant = await granted(store, randomUUID())
    await store.renew(grant, never)
    await store.update(grant, { step: '2' }, never)
    const changed = await store.change(grant, { grantId: randomUUID(), owner: 'next' }, never)
    if (changed.granted) await store.release(changed.grant, never)
    await store.read(grant.name, never)
    for await (const _ of store.list('', never)) break
    const ids = sent()
    expect(ids.length).toBeGreaterThan(12)
    expect(new Set(ids)).toEqual(new Set(['worker 7']))
    for (const end of ends) await end()
  })

  it('can be made for each request, by the operation and the lease name', async (test) => {
    let count = 0
    const { store, sent } = await identified(test, ({ operation, leaseName }) => {
      count += 1
      return `${operation} ${leaseName ?? 'all'} ${count}`
    })
    const grant = await granted(store, 'job')
    const first = sent()
    expect(first).toEqual(first.map((_, place) => `acquire job ${place + 1}`))
    await store.renew(grant, new AbortableCall())
    expect(sent()).toEqual([`renew job ${first.length + 1}`])
    for await (const _ of store.list('', new AbortableCall())) break
    expect(sent()).toEqual([`list all ${first.length + 2}`])
  })

  it('is in the error, with and without an answer of the service', async (test) => {
    const { proxy, store } = await identified(test, ({ operation }) => `${operation}-1`)
    proxy.behave(() => failing)
    const answered = store.acquire(claimOf('job'), never)
    await expect(answered).rejects.toThrow('[x-ms-request-id id-7, x-ms-client-request-id acquire-1]')
    await expect(answered).rejects.toMatchObject({ cause: { requestId: 'id-7', clientRequestId: 'acquire-1' } })
    proxy.behave(() => ({ kind: 'reset' }))
    const reset = store.read('job', never)
    await expect(reset).rejects.toThrow('[x-ms-client-request-id read-1]')
    await expect(reset).rejects.toMatchObject({ cause: { requestId: undefined, clientRequestId: 'read-1' } })
  })

  it('is not that of the other requests of the application', async (test) => {
    const { container, store, sent } = await identified(test, 'ours')
    const grant = await granted(store, 'job')
    sent()
    await container.getProperties()
    await store.blobOf('job').getProperties()
    expect(sent()).not.toContain('ours')
    await store.release(grant, never)
    expect(sent()).toEqual(['ours'])
  })

  it('is a key of the configuration', async (test) => {
    const { proxy, sent } = await identified(test, 'unused')
    await using provider = new LeaseProvider(
      {
        job: {
          'lease-class': 'azure-blob',
          'heartbeat-timeout': '15s',
          'heartbeat-interval': '3s',
          'lease-operation-timeout': '3s',
          'connection-string': azurite.connectionString(proxy.port),
          'client-request-id': 'billing',
        },
      },
      { 'azure-blob': azureBlobLease },
    )
    const lease = (await provider.getLease(randomUUID(), 'job')) as AzureBlobLease
    expect(await lease.acquire({ wait: TTL })).toBe(true)
    expect(new Set(sent())).toEqual(new Set(['billing']))
  })

  it.each(['', ' padded', 'a\r\nb', 'ключ', 'x'.repeat(1_025), 7 as never])('%j is refused', async (id) => {
    const client = azurite.container('unused')
    expect(() => new AzureBlobLeaseStore(client, { clientRequestId: id })).toThrow(LeaseConfigurationError)
    const store = new AzureBlobLeaseStore(client, { clientRequestId: () => id })
    await expect(store.read('job', never)).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('that throws makes the operation fail with a typed error', async () => {
    const clientRequestId = () => {
      throw new Error('no id')
    }
    const store = new AzureBlobLeaseStore(azurite.container('unused'), { clientRequestId })
    await expect(store.read('job', never)).rejects.toMatchObject({ name: 'LeaseUnavailableError' })
    await expect(store.read('job', never)).rejects.toThrow('no id')
  })
})
