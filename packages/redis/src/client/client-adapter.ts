import { systemRandom } from '@leasehold/core/store-kit'
import { misconfigured } from '../redis-options.js'
import type { ClientAdapter } from './connection.js'
import { ioredisAdapter } from './ioredis-adapter.js'
import { nodeRedisAdapter } from './node-redis-adapter.js'
import type { IoRedisClient, IoRedisClusterClient, RedisClient } from './redis-client.js'

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(client: RedisClient, random: () => number = systemRandom): ClientAdapter {
  if (typeof client === 'object' && client !== null && 'duplicate' in client) {
    if (isIoRedis(client)) return ioredisAdapter(client, random)
    if ('sendCommand' in client) return nodeRedisAdapter(client)
  }
  throw misconfigured(
    'the client is not supported: pass a client of ioredis (Redis, Cluster) or of node-redis (createClient, ' +
      'createCluster, createSentinel)',
  )
}

/** The error classes for replies of a server: of ioredis, and of node-redis with its subclasses. */
const replies = new Set(['ReplyError', 'ErrorReply'])

/** Whether the server answered the call with an error; other failures may mean that it never received the call. */
export function isReply(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  for (let type: object = error; type !== Error.prototype; type = Object.getPrototypeOf(type)) {
    if (replies.has(type.constructor.name)) return true
  }
  return false
}

function isIoRedis(client: RedisClient): client is IoRedisClient | IoRedisClusterClient {
  return 'evalsha' in client && 'disconnect' in client && !('isReady' in client)
}
