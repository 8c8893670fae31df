import { providerFactory } from '@leasehold/core/store-kit'
import { configuredClient } from './configured-client.js'
import { RedisLeaseStore } from './redis-lease-store.js'
import { redisOptions } from './redis-options.js'

/**
 * The factory that `lease-class = "@leasehold/redis"` loads. All leases of one provider with the same options share a store
 * and its connections. Needs ioredis, which it loads at the first lease.
 */
export const redisLease = providerFactory(redisOptions, async (options, { clock, random }) => {
  const { prefix, recordLife, probe, compat } = options
  return new RedisLeaseStore(await configuredClient(options), { prefix, recordLife, probe, compat, clock, random })
})
