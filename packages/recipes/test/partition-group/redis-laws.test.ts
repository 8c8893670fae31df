import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { partitionGroupLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { redisSubject } from '../support/store-subjects.js'
import { partitionGroup } from './subject.js'

describeRedis('on a Redis server:', () => {
  let server: RedisServer
  const clients: Redis[] = []

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await server.stop()
  })

  const connect = (port: number): Redis => {
    const client = new Redis(port)
    clients.push(client)
    return client
  }
  describeRecipeLaws({ ...partitionGroup, store: redisSubject(() => server, connect) }, partitionGroupLaws)
})
