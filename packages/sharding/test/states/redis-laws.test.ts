import { randomUUID } from 'node:crypto'
import { redisState } from '@leasehold/sharding/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { describeStateLaws } from './describe-state-laws.js'

describeRedis('in Redis', () => {
  let server: RedisServer
  let clients: Redis[]

  beforeAll(async () => {
    server = await RedisServer.start()
    clients = [new Redis(server.url), new Redis(server.url)]
  })

  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await server.stop()
  })

  describeStateLaws({
    name: 'redisState',
    start: () => {
      const prefix = `${randomUUID()}:`
      let count = 0
      return {
        open: () => {
          count += 1
          return redisState(clients[count % 2] as Redis, { prefix })
        },
      }
    },
  })
})
