export type { GlideClient, GlideClusterClient, GlideCommandOptions } from './client/glide-adapter.js'
export type { IoRedisClient, IoRedisClusterClient, IoRedisNode } from './client/ioredis-adapter.js'
export type {
  NodeRedisBase,
  NodeRedisClient,
  NodeRedisClusterClient,
  NodeRedisSentinelClient,
} from './client/node-redis-adapter.js'
export type { RedisClient } from './client/redis-client.js'
export type { UpstashClient } from './client/upstash-adapter.js'
export type { OldRedisLibrary, RedisCompat } from './compat/redis-compat.js'
export { type FencedCommand, type FencedScript, RedisGuard } from './redis-guard.js'
export { redisLease } from './redis-lease.js'
export { RedisLeaseStore } from './redis-lease-store.js'
export { type RedisLeaseStoreOptions, type RedisOptions, redisOptions } from './redis-options.js'
