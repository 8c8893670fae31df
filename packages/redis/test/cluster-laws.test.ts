import { describeRedis } from '@leasehold/testing/describe-redis'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onCluster } from './support/law-subjects.js'
import { differingClusterLibraries } from './support/libraries.js'
import { RedisCluster } from './support/redis-cluster.js'

describeRedis('a cluster of three nodes:', () => {
  let cluster: RedisCluster

  beforeAll(async () => {
    cluster = await RedisCluster.start()
  }, 90_000)

  afterAll(() => cluster.stop())

  for (const library of differingClusterLibraries) describeStoreLaws(onCluster(library, () => cluster))
})
