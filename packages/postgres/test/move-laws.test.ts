import { migrate } from '@leasehold/core/migrate'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import type { StoreSubject } from '@leasehold/testkit'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from '../../redis/test/support/law-subjects.js'
import { libraries } from '../../redis/test/support/libraries.js'
import { pool } from './support/libraries.js'
import { storesOver } from './support/store-subject.js'

describePostgres('from Redis to PostgreSQL:', () => {
  let redis: RedisServer
  let postgres: PostgresServer
  const [library] = libraries
  if (library === undefined) throw new Error('no library')
  const from = onServer(library, () => redis)
  const to = storesOver(pool, () => postgres)

  beforeAll(async () => {
    redis = await RedisServer.start()
    postgres = await PostgresServer.start({ settings: { max_connections: 400 } })
  })

  afterAll(async () => {
    await to.end()
    await redis.stop()
    await postgres.stop()
  })

  const subject: StoreSubject = {
    name: 'migrate(redis, postgres)',
    time: 'real',
    ttl: 9_000,
    clients: true,
    serverTime: true,
    start: async (clock) => {
      const [one, other] = [await from.start(clock), await to.start(clock)]
      return {
        open: async (own) => migrate(await one.open(own), await other.open(own)),
        delete: async (name) => {
          await one.delete?.(name)
          await other.delete?.(name)
        },
      }
    },
  }
  describeStoreLaws(subject)
})
