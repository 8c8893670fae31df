import { redisSystem } from './redis/system.js'
import type { System } from './system.js'

/** The stores of Leasehold, in the order of their names. */
export const systems: readonly System[] = [redisSystem]

/** Other libraries, for comparison: runs of `all` leave them out, and some are expected to fail. */
export const rivals: readonly System[] = []
