export { type RedisStateOptions, redisState } from './state/redis-state.js'
