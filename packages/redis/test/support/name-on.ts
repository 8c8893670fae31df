import type { RedisServer } from '@leasehold/testing/redis-server'
import type { RedisCluster } from './redis-cluster.js'

/** A lease name whose record is on that node of a cluster; another for each `start`. */
export async function nameOn(cluster: RedisCluster, node: RedisServer, start = 0): Promise<string> {
  for (let number = start * 1_000; ; number += 1) {
    const name = `job-${number}`
    if ((await cluster.ownerOf(await cluster.slotOf(`leasehold:{${name}}`))) === node) return name
  }
}
