import { describeRedis } from '@leasehold/testing/describe-redis'
import { freePort } from '@leasehold/testing/free-port'
import { RedisServer } from '@leasehold/testing/redis-server'
import { afterAll, beforeAll } from 'vitest'
import { describeService } from '../support/describe-service.js'

describeRedis('on a Redis server:', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start({ password: 'right' })
  })

  afterAll(() => server.stop())

  describeService('redis', {
    variable: 'REDIS_URL',
    right: () => ({ REDIS_URL: server.url }),
    down: async () => ({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` }),
    wrongPassword: () => ({ REDIS_URL: server.url.replace('right', 'wrong') }),
  })
})
