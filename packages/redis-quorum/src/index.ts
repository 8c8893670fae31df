export { redisQuorumLease } from './redis-quorum-lease.js'
export { RedisQuorumLeaseStore } from './redis-quorum-lease-store.js'
export { type RedisQuorumOptions, redisQuorumOptions } from './redis-quorum-options.js'
