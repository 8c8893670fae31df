import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from './support/law-subjects.js'
import { libraries } from './support/libraries.js'

describeRedis('one server, with the keys of another library:', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(() => server.stop())

  for (const library of libraries) describeStoreLaws(onServer(library, () => server, true))
})
