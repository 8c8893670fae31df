import { LeaseConfigurationError } from '@leasehold/core'
import type { Connection, Dialect } from './connection.js'
import { ioredisDialect, runUnprefixedByIoRedis } from './ioredis-dialect.js'
import { nodeRedisDialect, runByNodeRedis } from './node-redis-dialect.js'
import type { IoRedisClient, IoRedisClusterClient, RedisClient } from './redis-client.js'

/** How to open connections as the given client does. Throws a `LeaseConfigurationError` where it is no client. */
export function dialectOf(client: RedisClient): Dialect {
  checkClient(client)
  return isIoRedis(client) ? ioredisDialect(client) : nodeRedisDialect(client)
}

/** The client of the caller, used as it is. It sends the keys of a call without a prefix of its own. */
export interface OwnClient extends Pick<Connection, 'run'>, Pick<Dialect, 'keyPrefix'> {}

/** How to run scripts by the given client itself. Throws a `LeaseConfigurationError` where it is no client. */
export function ownClientOf(client: RedisClient): OwnClient {
  const { keyPrefix } = dialectOf(client)
  if (isIoRedis(client)) return { keyPrefix, run: (call) => runUnprefixedByIoRedis(client, call) }
  // node-redis puts its prefix only before the keys of commands that are methods.
  return { keyPrefix, run: (call, signal) => runByNodeRedis(client, call, signal) }
}

/** The classes of the errors with which a server answers a command: of ioredis, and of node-redis with its subclasses. */
const replies = new Set(['ReplyError', 'ErrorReply'])

/** Whether a call failed because the server answered it with an error; otherwise it may not have reached the server. */
export function isReply(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  for (let type: object = error; type !== Error.prototype; type = Object.getPrototypeOf(type)) {
    if (replies.has(type.constructor.name)) return true
  }
  return false
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
