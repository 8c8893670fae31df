import type { GlideClient, GlideClusterClient } from './glide-adapter.js'
import type { IoRedisClient, IoRedisClusterClient } from './ioredis-adapter.js'
import type { NodeRedisClient, NodeRedisClusterClient, NodeRedisSentinelClient } from './node-redis-adapter.js'
import type { UpstashClient } from './upstash-adapter.js'

/** A client of one server, Sentinel or Cluster: of ioredis, iovalkey, node-redis, Valkey GLIDE or @upstash/redis. */
export type RedisClient =
  | IoRedisClient
  | IoRedisClusterClient
  | NodeRedisClient
  | NodeRedisClusterClient
  | NodeRedisSentinelClient
  | GlideClient
  | GlideClusterClient
  | UpstashClient
