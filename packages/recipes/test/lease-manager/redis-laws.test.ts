import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { leaseManagerLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { redisSubject } from '../support/store-subjects.js'
import { managerUnderLaw } from './under-law.js'

describeRedis('LeaseManager on a Redis server:', () => {
  let server: RedisServer
  const clients: Redis[] = []
  const connect = (port: number): Redis => {
    const client = new Redis(port, '127.0.0.1')
    clients.push(client)
    return client
  }

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await server.stop()
  })

  describeRecipeLaws({ ...managerUnderLaw, store: redisSubject(() => server, connect) }, leaseManagerLaws)
})
