import { randomUUID } from 'node:crypto'
import { ConsulGuard } from '@leasehold/consul'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'

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

  it('keys of Consul: a burst of writes needs no more connections than an agent accepts', async () => {
    const [guard, key] = [new ConsulGuard({ addresses: [server.url] }), `guarded/${randomUUID()}`]
    for (const token of [5n, 9n]) {
      const writes = Array.from({ length: 430 }, (_, place) => {
        const operation = {
          KV: { Verb: 'set', Key: `${key}/${place}`, Value: Buffer.from(`${token}`).toString('base64') },
        }
        return guard.transact(key, token, [operation])
      })
      const failed = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
      expect(failed).toEqual([])
    }
    await guard.close()
  })
})
