import { S3Guard } from '@leasehold/s3'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { credentials } from './support/credentials.js'
import { StandInS3 } from './support/stand-in-s3.js'

const KEY = 'reports/today.json'

/** The guard and its object. */
interface Guarded extends GuardedResource {
  readonly guard: S3Guard
}

const failing = (name: string, error: unknown): OwnFailure => ({
  name,
  guarded: (guarded, token) => (guarded as Guarded).guard.transact(KEY, token, () => Promise.reject(error)),
  unguarded: () => Promise.reject(error),
})

const subject: GuardSubject = {
  name: 'S3Guard',
  start: async () => {
    const server = await StandInS3.start()
    return {
      open: (): Guarded => {
        const guard = new S3Guard({ bucket: 'leases', endpoint: server.url, credentials })
        return {
          guard,
          write: (value, token) => guard.write(KEY, token, { value }),
          writeAfter: async (value, token, meanwhile) => {
            let isFirst = true
            await guard.transact(KEY, token, async () => {
              if (isFirst) await meanwhile()
              isFirst = false
              return { value }
            })
          },
          delete: (token) => guard.delete(KEY, token),
        }
      },
      read: () => {
        const { value, leasehold } = JSON.parse(server.objects.get(KEY)?.body ?? '{}')
        return leasehold?.deleted ? undefined : value
      },
      ownFailures: [failing('an error', new RangeError("the user's own")), failing('no error', 'a text')],
      stop: () => server.stop(),
    }
  },
}

describeGuardLaws(subject)
