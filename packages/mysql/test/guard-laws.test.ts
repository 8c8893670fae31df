import { MysqlGuard } from '@leasehold/mysql'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'

const subject: GuardSubject = {
  name: 'MysqlGuard',
  start: () => ({
    open: () => {
      const guard = new MysqlGuard()
      return { write: (value, fencingToken) => guard.write('resource', fencingToken, value) }
    },
    read: () => {
      throw new Error('read() is missing: return the value of the resource, past the guard')
    },
  }),
}

describeGuardLaws(subject)
