import { randomUUID } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import { S3Guard, S3LeaseStore } from '@leasehold/s3'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { granted, never } from '@leasehold/testing/named-claims'
import { type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { expect, it } from 'vitest'
import { LeaseKeys } from '../src/lease-object.js'
import { credentials as example } from './support/credentials.js'
import { signedFetch } from './support/signed-fetch.js'

/** A service of your own: its address, and a bucket that exists. The keys are those of the environment. */
const { S3_SERVICE = '', S3_SERVICE_BUCKET = 'leases' } = process.env
const { AWS_ACCESS_KEY_ID = example.accessKeyId, AWS_SECRET_ACCESS_KEY = example.secretAccessKey } = process.env
const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }

const whyNot = S3_SERVICE === '' ? 'S3_SERVICE is not set: set it to the address of a service to be tried' : undefined

describeUnless(whyNot, `the service ${S3_SERVICE}`, () => {
  const bucket = { bucket: S3_SERVICE_BUCKET, endpoint: S3_SERVICE, credentials }
  const overSdk = () => ({
    bucket: S3_SERVICE_BUCKET,
    client: new S3Client({
      region: 'us-east-1',
      endpoint: S3_SERVICE,
      credentials,
      forcePathStyle: true,
      maxAttempts: 1,
    }),
  })

  it('keeps the conditions', async () => {
    for (const { check, result } of await new S3LeaseStore(bucket).probe(never))
      expect([check, result]).toEqual([check, 'ok'])
  })

  it('keeps the fence of a guard', async () => {
    for (const access of [bucket, overSdk()]) {
      const guard = new S3Guard(access)
      const key = `trial/${randomUUID()}.json`
      await guard.write(key, 2n, { a: 1 })
      await expect(guard.write(key, 1n, { a: 2 })).rejects.toMatchObject({ code: 'lost' })
      expect(await guard.transact(key, 3n, (value) => ({ ...value, b: 2 }))).toEqual({ a: 1, b: 2 })
    }
  })

  for (const way of ['fetch', 'sdk'] as const) {
    const subject: StoreSubject = {
      name: `S3LeaseStore over ${way} on ${S3_SERVICE}`,
      time: 'real',
      ttl: 10_000,
      clients: true,
      start: () => {
        const prefix = `trial/${randomUUID()}/`
        const keys = new LeaseKeys(prefix)
        const address = (name: string): string => `${S3_SERVICE}/${S3_SERVICE_BUCKET}/${keys.of(name)}`
        const open = () => new S3LeaseStore({ ...(way === 'fetch' ? bucket : overSdk()), prefix })
        return {
          open,
          prepare: async (name) => {
            const store = open()
            await store.release(await granted(store, name), never)
          },
          delete: (name) => signedFetch('DELETE', address(name), credentials),
          copy: async (name) => {
            const body = await (await signedFetch('GET', address(name), credentials)).text()
            return () => signedFetch('PUT', address(name), credentials, body)
          },
        }
      },
    }
    describeStoreLaws(subject, storeLaws)
  }
})
