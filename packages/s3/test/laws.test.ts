import { S3Client } from '@aws-sdk/client-s3'
import { S3LeaseStore } from '@leasehold/s3'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { LeaseKeys } from '../src/lease-object.js'
import { credentials } from './support/credentials.js'
import { StandInS3 } from './support/stand-in-s3.js'

const START = Date.parse('2026-11-29T00:00:00Z')

/** The times of the service are not compared here: they are those of no clock. See `moto-laws.test.ts`. */
const clockDifference = Number.POSITIVE_INFINITY

const subjectOver = (way: 'fetch' | 'sdk'): StoreSubject => ({
  name: `S3LeaseStore over ${way}`,
  time: 'virtual',
  clients: true,
  remote: true,
  start: async (clock) => {
    let seconds = 0
    // Virtual time stands still during a call. Therefore a second passes with each request: no grant has to wait for it.
    const time = (): number => {
      seconds += 1
      return START + clock.now() + seconds * 1_000
    }
    const server = await StandInS3.start({ time, tellsWrites: true })
    const keys = new LeaseKeys('leases/')
    const endpoint = server.url
    const sdk = () => new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true, maxAttempts: 1 })
    const access = () => (way === 'fetch' ? { endpoint, credentials } : { client: sdk() })
    return {
      open: (own) => new S3LeaseStore({ bucket: 'leases', ...access(), clockDifference, clock: own }),
      delete: (name) => server.objects.delete(keys.of(name)),
      copy: async (name) => {
        const copied = server.objects.get(keys.of(name))
        return () => copied && void server.put(keys.of(name), copied.body)
      },
      stop: () => server.stop(),
    }
  },
})

describeStoreLaws(subjectOver('fetch'))
describeStoreLaws(subjectOver('sdk'))
describeLeaseLaws(leasesOver(subjectOver('fetch')))
