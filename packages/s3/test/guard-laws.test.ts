import { S3Guard } from '@leasehold/s3'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'

const subject: GuardSubject = {
  name: 'S3Guard',
  start: () => ({
    open: () => {
      const guard = new S3Guard()
      return { write: (value, fencingToken) => guard.write('resource', fencingToken, value) }
    },
    read: () => {
      throw new Error('read() is missing: return the value of the resource, past the guard')
    },
  }),
}

describeGuardLaws(subject)
