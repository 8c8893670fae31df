export type {
  IoRedisClient,
  IoRedisClusterClient,
  IoRedisNode,
  NodeRedisBase,
  NodeRedisClient,
  NodeRedisClusterClient,
  NodeRedisSentinelClient,
  RedisClient,
} from './client/redis-client.js'
export type { OldRedisLibrary, RedisCompat } from './compat/redis-compat.js'
export { type FencedCommand, type FencedScript, RedisGuard } from './redis-guard.js'
export { redisLease } from './redis-lease.js'
export { RedisLeaseStore } from './redis-lease-store.js'
export { type RedisLeaseStoreOptions, type RedisOptions, redisOptions } from './redis-options.js'
