// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'

const { REDIS_URL = 'redis://localhost:6379' } = process.env

/** After how many milliseconds without a heartbeat another process takes over. */
export const heartbeatTimeout = 10_000

export const advice = `Start Redis: docker compose up -d. Or set REDIS_URL to the URL of yours, such as redis://:PASSWORD@HOST:6379.`

/**
 * The leases, and the data that the holder writes: keys of the same server.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, maxRetriesPerRequest: 1 })
  // A call that fails says so itself.
  redis.on('error', () => {})
  const store = new RedisLeaseStore(redis)
  const guard = new RedisGuard(redis)
  return {
    store,
    // Checks the fencing token and writes in one step.
    save: async (key, text, { fencingToken, signal }) => {
      await guard.write(`my-service:${key}`, fencingToken, text, { signal })
    },
    close: async () => {
      await store.close()
      redis.disconnect()
    },
  }
}
