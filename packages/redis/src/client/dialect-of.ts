import { LeaseConfigurationError } from '@leasehold/core'
import type { Dialect } from './connection.js'
import { ioredisDialect } from './ioredis-dialect.js'
import { nodeRedisDialect } from './node-redis-dialect.js'
import type { IoRedisClient, IoRedisClusterClient, RedisClient } from './redis-client.js'

/** How to talk to the server as the given client does. Throws a `LeaseConfigurationError` where it is no client. */
export function dialectOf(client: RedisClient): Dialect {
  if (typeof client === 'object' && client !== null && 'duplicate' in client) {
    if (isIoRedis(client)) return ioredisDialect(client)
    if ('sendCommand' in client) return nodeRedisDialect(client)
  }
  throw new LeaseConfigurationError(
    'the client is none that is known: give a client of ioredis (Redis, Cluster) or of node-redis (createClient, ' +
      'createCluster, createSentinel)',
    { store: 'redis' },
  )
}

function isIoRedis(client: RedisClient): client is IoRedisClient | IoRedisClusterClient {
  return 'evalsha' in client && 'disconnect' in client && !('isReady' in client)
}
