import { createLease, LeaseStoreUnfitError } from '@leasehold/core'
import { S3LeaseStore } from '@leasehold/s3'
import { silentLogger } from '@leasehold/testing'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { motoProgram, oldMotoProgram } from '@leasehold/testing/moto-server'
import { never } from '@leasehold/testing/named-claims'
import { type S3Service, s3Bucket, s3rver } from '@leasehold/testing/s3-bucket'
import { describe, expect, it } from 'vitest'

const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

async function storeOn(service: S3Service): Promise<S3LeaseStore> {
  const address = await s3Bucket(service)
  const [, endpoint, bucket = ''] = /^(.*)\/([^/]+)$/.exec(address) ?? []
  return new S3LeaseStore({ bucket, endpoint, credentials: keys, region: 'us-east-1' })
}

interface Lying {
  readonly name: string
  readonly service: S3Service
  readonly whyNot?: string | undefined
  /** The first condition that it ignores. */
  readonly ignored: string
}

const lying: readonly Lying[] = [
  { name: 's3rver 3.7', service: s3rver, ignored: 'conditional creation' },
  {
    name: 'moto 4',
    service: (port) => [oldMotoProgram.path ?? '', String(port)],
    whyNot: oldMotoProgram.whyNot,
    ignored: 'conditional writes',
  },
]

for (const { name, service, whyNot, ignored } of lying) {
  describeUnless(whyNot, `${name}, which accepts conditions and ignores them`, () => {
    it('is refused before the first grant', async () => {
      const store = await storeOn(service)
      const refused = createLease(store, 'job', { logger: silentLogger }).acquire()
      await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
      await expect(refused).rejects.toMatchObject({ setting: ignored, store: 's3' })
      expect(await store.read('job', never)).toBeUndefined()
      expect(await store.probe(never)).toContainEqual(expect.objectContaining({ check: ignored, result: 'failed' }))
    })
  })
}

describeUnless(motoProgram.whyNot, 'moto 5, which keeps conditions', () => {
  it('is accepted', async () => {
    const store = await storeOn((port) => [motoProgram.path ?? '', String(port)])
    for (const { result } of await store.probe(never)) expect(result).toBe('ok')
    expect(await createLease(store, 'job', { logger: silentLogger }).acquire()).toBe(true)
  })
})

describe('a service that does not know the header of a condition', () => {
  it('is a finding of the probe, not an error', async (test) => {
    const { StandInS3 } = await import('./support/stand-in-s3.js')
    const server = await StandInS3.start()
    test.onTestFinished(() => server.stop())
    server.intercept = ({ method }) => (method === 'PUT' ? { status: 501, code: 'NotImplemented' } : undefined)
    const store = new S3LeaseStore({ bucket: 'leases', endpoint: server.url, credentials: keys })
    expect(await store.probe(never)).toEqual([
      expect.objectContaining({ check: 'conditional writes', result: 'failed', found: expect.stringMatching(/501/) }),
    ])
    const refused = createLease(store, 'job', { logger: silentLogger }).acquire()
    await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
  })
})
