import { randomUUID } from 'node:crypto'
import { NatsGuard } from '@leasehold/nats'
import { describeNats } from '@leasehold/testing/describe-nats'
import { NatsServer } from '@leasehold/testing/nats-server'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { type KV, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'

describeNats('the guard of', () => {
  let server: NatsServer
  let connection: NatsConnection
  let kv: KV

  beforeAll(async () => {
    server = await NatsServer.start()
    connection = await connect({ servers: server.url })
    kv = await new Kvm(connection).create('data')
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  const subject: GuardSubject = {
    name: 'nats',
    start: () => {
      const key = randomUUID()
      return {
        open: () => {
          const guard = new NatsGuard(connection, { bucket: 'data' })
          return {
            write: (value: string, token: bigint) => guard.write(key, token, value),
            delete: (token: bigint) => guard.delete(key, token),
          }
        },
        ownFailures: [
          {
            name: 'a function that throws',
            guarded: (_, token) => new NatsGuard(connection, { bucket: 'data' }).transact(key, token, fails),
            unguarded: async () => fails(),
          },
        ],
        read: async () => {
          const entry = await kv.get(key)
          return entry?.operation === 'PUT' ? entry.string() : undefined
        },
      }
    },
  }

  describeGuardLaws(subject)
})

function fails(): never {
  throw new RangeError('no')
}
