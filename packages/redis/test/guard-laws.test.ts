import { randomUUID } from 'node:crypto'
import { RedisGuard } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'

/** By any command that takes one value. */
interface Guarded extends GuardedResource {
  write(value: string, fencingToken: bigint, command?: string): Promise<unknown>
}

describeRedis('the guard of', () => {
  let server: RedisServer
  let client: Redis
  let bare: Redis

  beforeAll(async () => {
    server = await RedisServer.start()
    client = new Redis(server.url, { keyPrefix: 'app:' })
    bare = new Redis(server.url)
  })

  afterAll(async () => {
    client.disconnect()
    bare.disconnect()
    await server.stop()
  })

  const ioredis: GuardSubject = {
    name: 'ioredis with a prefix, and without',
    start: (): ReturnType<GuardSubject['start']> => {
      const key = randomUUID()
      let count = 0
      const failingCommand: OwnFailure = {
        name: 'a command for another type',
        guarded: (guarded, token) => (guarded as Guarded).write('5', token, 'LPUSH'),
        unguarded: () => bare.call('LPUSH', `app:${key}`, '5'),
      }
      return {
        open: () => {
          count += 1
          // Every second one knows the key by its whole name.
          const [by, name] = count % 2 === 0 ? [bare, `app:${key}`] : [client, key]
          const guard = new RedisGuard(by)
          return {
            write: (value: string, token: bigint, command?: string) =>
              command === undefined ? guard.write(name, token, value) : guard.transact(name, token, [command, value]),
            delete: (token: bigint) => guard.delete(name, token),
          }
        },
        read: async () => (await bare.get(`app:${key}`)) ?? undefined,
        ownFailures: [failingCommand],
      }
    },
  }

  describeGuardLaws(ioredis)
})
