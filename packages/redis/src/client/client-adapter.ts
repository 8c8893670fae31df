import { type Clock, systemClock } from '@leasehold/core'
import { systemRandom } from '@leasehold/core/store-kit'
import { misconfigured } from '../redis-options.js'
import type { ClientAdapter } from './connection.js'
import { glideAdapter, isGlide } from './glide-adapter.js'
import { ioredisAdapter, isIoRedis } from './ioredis-adapter.js'
import { isNodeRedis, nodeRedisAdapter } from './node-redis-adapter.js'
import type { RedisClient } from './redis-client.js'
import { isUpstash, upstashAdapter } from './upstash-adapter.js'

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(
  client: RedisClient,
  random: () => number = systemRandom,
  clock: Clock = systemClock,
): ClientAdapter {
  if (typeof client === 'object' && client !== null) {
    if (isIoRedis(client)) return ioredisAdapter(client, random)
    if (isNodeRedis(client)) return nodeRedisAdapter(client)
    if (isGlide(client)) return glideAdapter(client, clock)
    if (isUpstash(client)) return upstashAdapter(client)
  }
  throw misconfigured(
    `${whatIs(client)} is not supported: pass a client of ioredis or iovalkey (Redis, Cluster), of node-redis ` +
      '(createClient, createCluster, createSentinel), of Valkey GLIDE (await GlideClient.createClient, ' +
      'await GlideClusterClient.createClient) or of @upstash/redis (Redis)',
  )
}

function whatIs(client: unknown): string {
  return client instanceof Promise ? 'a promise of a client' : 'the client'
}
