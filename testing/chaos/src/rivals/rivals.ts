import type { System } from '../systems/system.js'
import { redisSemaphoreSystem } from './redis-semaphore/system.js'
import { redlockSystem } from './redlock/system.js'
import { shedlockSystems } from './shedlock/system.js'

/** Other libraries, under the same faults and checks. */
export const rivals: readonly System[] = [redlockSystem, redisSemaphoreSystem, ...shedlockSystems]
