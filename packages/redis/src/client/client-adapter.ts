import { LeaseConfigurationError } from '@leasehold/core'
import type { ClientAdapter, Connection } from './connection.js'
import { ioredisAdapter, runUnprefixedByIoRedis } from './ioredis-adapter.js'
import { nodeRedisAdapter, runByNodeRedis } from './node-redis-adapter.js'
import type { IoRedisClient, IoRedisClusterClient, RedisClient } from './redis-client.js'

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(client: RedisClient): ClientAdapter {
  checkClient(client)
  return isIoRedis(client) ? ioredisAdapter(client) : nodeRedisAdapter(client)
}

/** The caller's client, used as it is. It sends the keys of a call without its own prefix. */
export interface OwnClient extends Pick<Connection, 'run'>, Pick<ClientAdapter, 'keyPrefix'> {}

/** Runs scripts over the given client itself. Throws a `LeaseConfigurationError` if it is not a client. */
export function ownClientOf(client: RedisClient): OwnClient {
  const { keyPrefix } = adapterFor(client)
  if (isIoRedis(client)) return { keyPrefix, run: (call) => runUnprefixedByIoRedis(client, call) }
  // node-redis adds its prefix only to the keys of commands that are methods.
  return { keyPrefix, run: (call, signal) => runByNodeRedis(client, call, signal) }
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

function checkClient(client: RedisClient): void {
  if (typeof client === 'object' && client !== null && 'duplicate' in client) {
    if (isIoRedis(client) || 'sendCommand' in client) return
  }
  throw new LeaseConfigurationError(
    'the client is not supported: pass a client of ioredis (Redis, Cluster) or of node-redis (createClient, ' +
      'createCluster, createSentinel)',
    { store: 'redis' },
  )
}

function isIoRedis(client: RedisClient): client is IoRedisClient | IoRedisClusterClient {
  return 'evalsha' in client && 'disconnect' in client && !('isReady' in client)
}
