import { createLease, LeaseStoreUnfitError } from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { type S3Service, s3Bucket, s3rver } from '@leasehold/testing/s3-bucket'
import { s3Headers, s3Register } from '@leasehold/testing/s3-register'
import { expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

/** The moto of Debian 12 answers as S3, and ignores `If-Match` of writes. */
const { MOTO_OLD = '' } = process.env
const whyNoMoto =
  MOTO_OLD === '' ? 'MOTO_OLD is not set: set it to a program that runs moto 4 on the given port' : undefined

interface LyingService {
  readonly name: string
  readonly service: S3Service
  readonly whyNot?: string | undefined
  /** The first condition that it ignores. */
  readonly ignored: string
}

const services: readonly LyingService[] = [
  { name: 's3rver', service: s3rver, ignored: 'conditional creation' },
  {
    name: 'an old moto',
    service: (port) => [MOTO_OLD, String(port)],
    whyNot: whyNoMoto,
    ignored: 'conditional writes',
  },
]

for (const { name, service, whyNot, ignored } of services) {
  describeUnless(whyNot, `${name}, an S3 that accepts conditions and ignores them`, () => {
    it('is refused before the first grant: two owners would both write the record', { timeout: 60_000 }, async () => {
      const address = await s3Bucket(service)
      const store = casStore(s3Register(address))
      const lease = createLease(store, 'job', { owner: 'anna', logger: silentLogger })
      const refused = lease.acquire()
      await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
      await expect(refused).rejects.toMatchObject({ setting: ignored, store: 's3' })
      expect((await fetch(`${address}/job`, { headers: s3Headers() })).status).toBe(404)
      expect(await store.probe(new AbortableCall())).toContainEqual(
        expect.objectContaining({ check: ignored, result: 'failed' }),
      )
    })
  })
}
