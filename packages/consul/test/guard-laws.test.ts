import { randomUUID } from 'node:crypto'
import { ConsulGuard } from '@leasehold/consul'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'

describeConsul('the guard of', () => {
  let server: ConsulServer
  beforeAll(async () => {
    server = await ConsulServer.start()
  })
  afterAll(() => server.stop())

  const keys: GuardSubject = {
    name: 'keys of Consul',
    start: () => {
      const key = `guarded/${randomUUID()}`
      return {
        open: () => {
          const guard = new ConsulGuard({ addresses: [server.url] })
          return {
            write: (value, token) => guard.write(key, token, value),
            delete: (token) => guard.delete(key, token),
          }
        },
        read: async () => {
          const entries = (await server.request('GET', `/kv/${key}`).catch(() => [])) as { Value: string }[]
          return entries[0] === undefined ? undefined : Buffer.from(entries[0].Value, 'base64').toString()
        },
      }
    },
  }

  describeGuardLaws(keys)
})
