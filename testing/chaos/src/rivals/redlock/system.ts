import { redisProgram } from '@leasehold/testing/redis-program'
import type { System } from '../../systems/system.js'
import { startRedisLocks } from '../redis-locks.js'

const timeouts = { ttl: 2_000, heartbeatInterval: 600, operationTimeout: 600 }

/** redlock 5 with its quorum. Its clients read the wall clock of the machine, which nobody sets. */
export const redlockSystem: System = {
  name: 'redlock',
  title: 'redlock 5 on 3 servers of Redis, with appendfsync always; an unguarded register',
  whyNot: redisProgram.whyNot,
  timeouts,
  longestRecovery: 8_000,
  client: new URL('client.ts', import.meta.url),
  start: (scene) => startRedisLocks(scene, 3, timeouts),
}
