export type {
  IoRedisClient,
  IoRedisClusterClient,
  NodeRedisClient,
  NodeRedisClusterClient,
  NodeRedisSentinelClient,
  RedisClient,
} from './client/redis-client.js'
export { RedisQuorumStore } from './quorum/redis-quorum-store.js'
export { RedisLeaseStore, type RedisLeaseStoreOptions } from './redis-lease-store.js'
