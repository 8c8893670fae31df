import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { describeAllRecipes } from '../support/all-recipes.js'
import { redisSubject } from '../support/store-subjects.js'

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

  const store = redisSubject(
    () => server,
    (port) => {
      const client = new Redis(port)
      clients.push(client)
      return client
    },
  )
  describeAllRecipes((recipe) => ({ ...recipe, store }))
})
