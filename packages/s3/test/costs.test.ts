import { S3LeaseStore } from '@leasehold/s3'
import { claimOf, granted, never } from '@leasehold/testing/named-claims'
import { afterAll, describe, expect, it } from 'vitest'
import { credentials } from './support/credentials.js'
import { StandInS3 } from './support/stand-in-s3.js'

const server = await StandInS3.start()
afterAll(() => server.stop())

const open = (probe = false): S3LeaseStore =>
  new S3LeaseStore({ bucket: 'leases', endpoint: server.url, credentials, probe })

/** The methods of the requests that the operations take, such as `GET PUT`. */
async function requestsOf(operations: () => Promise<unknown>): Promise<string> {
  server.requests.length = 0
  await operations()
  return server.requests.map(({ method }) => method).join(' ')
}

describe('the requests of an operation', () => {
  it('are a read and a write for a grant; one write more for the first grant of a name', async () => {
    const store = open()
    expect(await requestsOf(() => granted(store, 'new'))).toBe('GET PUT PUT')
    const grant = await granted(store, 'job')
    await store.release(grant, never)
    expect(await requestsOf(() => granted(store, 'job'))).toBe('GET PUT')
  })

  it('are a read for a refusal, and for a look', async () => {
    await granted(open(), 'held')
    expect(await requestsOf(() => open().acquire(claimOf('held'), never))).toBe('GET')
    expect(await requestsOf(() => open().read('held', never))).toBe('GET')
  })

  it('are a write for a heartbeat, an update, a hand-off and a release', async () => {
    const store = open()
    const grant = await granted(store, 'renewed')
    expect(await requestsOf(() => store.renew(grant, never))).toBe('PUT')
    expect(await requestsOf(() => store.update(grant, { a: 'b' }, never))).toBe('PUT')
    expect(await requestsOf(() => store.release(grant, never))).toBe('PUT')
  })

  it('are a listing, and a read for each lease', async () => {
    const other = await StandInS3.start()
    const store = new S3LeaseStore({ bucket: 'leases', endpoint: other.url, credentials, probe: false })
    for (const name of ['a', 'b', 'c']) await granted(store, name)
    other.requests.length = 0
    for await (const _ of store.list?.('', never) ?? []) void _
    expect(other.requests).toHaveLength(4)
    await other.stop()
  })

  it('are six for the check of a service, and one more the first time', async () => {
    expect(await requestsOf(() => open().probe(never))).toBe('GET PUT PUT GET PUT PUT GET')
    expect(await requestsOf(() => open().probe(never))).toBe('GET PUT GET PUT PUT GET')
  })
})
