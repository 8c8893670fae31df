import { redisSystem } from './redis/system.js'
import type { System } from './system.js'

/** The stores of Leasehold, in the order of their names. */
export const systems: readonly System[] = [redisSystem]
