import { S3Client } from '@aws-sdk/client-s3'
import { turnsOf } from '@leasehold/testing'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { granted, never } from '@leasehold/testing/named-claims'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storeWithRole } from './readme/credentials.js'
import { publishOnce } from './readme/report.js'
import { storesOn } from './readme/services.js'
import { storeOver } from './readme/with-sdk.js'
import { credentials } from './support/credentials.js'
import { MotoBucket } from './support/moto-bucket.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeMoto('the programs of the README and of the guide', () => {
  let moto: MotoServer
  beforeAll(async () => {
    moto = await MotoServer.start()
  })
  afterAll(() => moto.stop())

  it.concurrent('the first one gives two processes their turns', async () => {
    const bucket = await MotoBucket.create(moto)
    const env = {
      BUCKET: bucket.name,
      AWS_ENDPOINT_URL_S3: moto.url,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    }
    expect(new Set(await turnsOf(firstLease, env)).size).toBe(2)
  })

  it.concurrent('a report is written under the lease and the guard', async () => {
    const bucket = await MotoBucket.create(moto)
    await publishOnce(bucket.access('fetch'), async () => 1)
    await publishOnce(bucket.access('fetch'), async () => 2)
    const headers = { authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/20260101/us-east-1/s3/x` }
    const found = await (await fetch(`${moto.url}/${bucket.name}/reports/latest.json`, { headers })).json()
    expect(found).toMatchObject({ total: 2, leasehold: { fencingToken: expect.stringMatching(/^\d+$/) } })
  })

  it.concurrent('a client of the SDK is handed in', async () => {
    const bucket = await MotoBucket.create(moto)
    const client = new S3Client({ region: 'us-east-1', endpoint: moto.url, credentials, forcePathStyle: true })
    const store = storeOver(client, bucket.name)
    const grant = await granted(store, 'job')
    expect(await store.release(grant, never)).toEqual({ released: true })
  })
})

it('each service has a store of its own, and keys may expire', async () => {
  const stores = [...Object.values(storesOn('0123', credentials)), storeWithRole(async () => credentials)]
  for (const store of stores) await store.close()
  expect(stores).toHaveLength(4)
})
