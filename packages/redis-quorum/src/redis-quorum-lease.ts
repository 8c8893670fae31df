import { providerFactory } from '@leasehold/core/store-kit'
import { configuredClient } from '@leasehold/redis/internal'
import { RedisQuorumLeaseStore } from './redis-quorum-lease-store.js'
import { redisQuorumOptions } from './redis-quorum-options.js'

/**
 * The factory that `lease-class = "@leasehold/redis-quorum"` loads. All leases of one provider with the same options share a
 * store and its connections. Needs ioredis, which it loads at the first lease.
 */
export const redisQuorumLease = providerFactory(redisQuorumOptions, async (options, { clock, random }) => {
  const { urls = [], username, password, caFile, prefix, recordLife, probe, compat } = options
  const clients = await Promise.all(urls.map((url) => configuredClient({ url, username, password, caFile })))
  return new RedisQuorumLeaseStore(clients, { prefix, recordLife, probe, compat, clock, random })
})
