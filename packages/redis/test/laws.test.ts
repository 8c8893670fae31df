import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { behindProxies, onServer, onServerThatRestarts, partitionLaws, restartLaws } from './support/law-subjects.js'
import { libraries } from './support/libraries.js'

describeRedis('one server:', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(() => server.stop())

  for (const library of libraries) {
    describeStoreLaws(onServer(library, () => server))
    const proxied = behindProxies(library, () => server)
    describeStoreLaws(proxied, partitionLaws)
    describeLeaseLaws(leasesOver(proxied))
  }
})

describeRedis('servers of their own:', () => {
  for (const library of libraries) describeStoreLaws(onServerThatRestarts(library), restartLaws)
})
