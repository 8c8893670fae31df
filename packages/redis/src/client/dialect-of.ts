import { LeaseConfigurationError } from '@leasehold/core'
import type { Connection, Dialect, ScriptCall } from './connection.js'
import { ioredisDialect, runByIoRedis } from './ioredis-dialect.js'
import { nodeRedisDialect, runByNodeRedis } from './node-redis-dialect.js'
import type { IoRedisClient, IoRedisClusterClient, RedisClient } from './redis-client.js'

/** How to open connections as the given client does. Throws a `LeaseConfigurationError` where it is no client. */
export function dialectOf(client: RedisClient): Dialect {
  checkClient(client)
  return isIoRedis(client) ? ioredisDialect(client) : nodeRedisDialect(client)
}

/** The client of the caller, used as it is. */
export interface OwnClient extends Pick<Connection, 'run'>, Pick<Dialect, 'keyPrefix'> {}

/** How to run scripts by the given client itself. Throws a `LeaseConfigurationError` where it is no client. */
export function ownClientOf(client: RedisClient): OwnClient {
  const { keyPrefix } = dialectOf(client)
  if (isIoRedis(client)) return { keyPrefix, run: (call) => runByIoRedis(client, call) }
  // Of commands that it does not know, node-redis leaves the keys as they are.
  const prefixed = (call: ScriptCall): ScriptCall => ({ ...call, keys: call.keys.map((key) => keyPrefix + key) })
  return { keyPrefix, run: (call, signal) => runByNodeRedis(client, prefixed(call), signal) }
}

function checkClient(client: RedisClient): void {
  if (typeof client === 'object' && client !== null && 'duplicate' in client) {
    if (isIoRedis(client) || 'sendCommand' in client) return
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
