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
export { RedisQuorumStore } from './quorum/redis-quorum-store.js'
export { type FencedCommand, type FencedScript, RedisGuard } from './redis-guard.js'
export { redisLease } from './redis-lease.js'
export { RedisLeaseStore, type RedisLeaseStoreOptions } from './redis-lease-store.js'
export { type RedisOptions, redisOptions } from './redis-options.js'
