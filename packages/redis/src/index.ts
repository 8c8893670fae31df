export type {
  IoRedisClient,
  IoRedisClusterClient,
  NodeRedisClient,
  NodeRedisClusterClient,
  NodeRedisSentinelClient,
  RedisClient,
} from './client/redis-client.js'
export { RedisLeaseStore, type RedisLeaseStoreOptions } from './redis-lease-store.js'
