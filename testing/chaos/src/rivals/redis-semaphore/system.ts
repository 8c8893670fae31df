import { redisProgram } from '@leasehold/testing/redis-program'
import type { System } from '../../systems/system.js'
import { startRedisLocks } from '../redis-locks.js'

/** The heartbeat is the library's own default, 80 % of the ttl. */
const timeouts = { ttl: 2_000, heartbeatInterval: 1_600, operationTimeout: 600 }

/** `Mutex` of redis-semaphore on one server. */
export const redisSemaphoreSystem: System = {
  name: 'redis-semaphore',
  title: 'redis-semaphore 5 on one server of Redis, with appendfsync always; an unguarded register',
  whyNot: redisProgram.whyNot,
  timeouts,
  longestRecovery: 8_000,
  client: new URL('client.ts', import.meta.url),
  start: (scene) => startRedisLocks(scene, 1, timeouts),
}
