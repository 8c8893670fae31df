import { randomUUID } from 'node:crypto'
import { EtcdClient, EtcdGuard } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { never } from './support/law-subjects.js'

const twice = (key: string) => [
  { put: key, value: '1' },
  { put: key, value: '2' },
]

const puts = (key: string) =>
  twice(key).map(({ put, value }) => ({ requestPut: { key: Buffer.from(put), value: Buffer.from(value) } }))

describeEtcd('the guard of', () => {
  let server: EtcdServer
  let client: EtcdClient

  beforeAll(async () => {
    server = await EtcdServer.start()
    client = new EtcdClient({ endpoints: [server.url] })
  })

  afterAll(async () => {
    client.close()
    await server.stop()
  })

  const subject: GuardSubject = {
    name: 'etcd',
    start: () => {
      const key = randomUUID()
      return {
        open: () => {
          const guard = new EtcdGuard(client)
          return {
            write: (value: string, token: bigint) => guard.write(key, token, value),
            delete: (token: bigint) => guard.delete(key, token),
          }
        },
        ownFailures: [
          {
            name: 'a transaction that writes a key twice',
            guarded: (_, token) => new EtcdGuard(client).transact(key, token, { write: twice(key) }),
            unguarded: () => client.request('Txn', { compare: [], success: puts(key), failure: [] }, never),
          },
        ],
        read: async () => {
          const value = (await server.ctl('get', key, '--print-value-only')).replace(/\n$/, '')
          return value === '' ? undefined : value
        },
      }
    },
  }

  describeGuardLaws(subject)
})
