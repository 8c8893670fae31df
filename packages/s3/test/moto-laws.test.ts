import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { granted, never } from '@leasehold/testing/named-claims'
import { type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { LeaseKeys } from '../src/lease-object.js'
import { credentials } from './support/credentials.js'
import { MotoBucket } from './support/moto-bucket.js'

/** A call has a sixth of it, and a claim can wait for the end of a second, on a busy machine. */
const TTL = 12_000

/** The laws on which the times of a real service have a bearing. The others hold in virtual time: see `laws.test.ts`. */
const timed = storeLaws.filter(({ family }) => family === 'expiry' || family === 'fencing')

describeMoto('S3LeaseStore on a real server', () => {
  let moto: MotoServer
  beforeAll(async () => {
    moto = await MotoServer.start()
  })
  afterAll(() => moto.stop())

  const subject: StoreSubject = {
    name: 'S3LeaseStore',
    time: 'real',
    ttl: TTL,
    clients: true,
    start: async () => {
      const bucket = await MotoBucket.create(moto)
      const keys = new LeaseKeys('leases/')
      const address = (name: string): string => `${moto.url}/${bucket.name}/${keys.of(name)}`
      const headers = {
        authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/20260101/us-east-1/s3/x`,
      }
      return {
        open: () => bucket.store(),
        prepare: async (name) => {
          const store = bucket.store()
          await store.release(await granted(store, name), never)
        },
        delete: (name) => fetch(address(name), { method: 'DELETE', headers }),
        copy: async (name) => {
          const body = await (await fetch(address(name), { headers })).text()
          return () => fetch(address(name), { method: 'PUT', headers, body })
        },
      }
    },
  }
  describeStoreLaws(subject, timed)
})
