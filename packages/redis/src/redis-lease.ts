import { LeaseConfigurationError } from '@leasehold/core'
import { providerFactory } from '@leasehold/core/store'
import type { RedisClient } from './client/redis-client.js'
import { RedisQuorumStore } from './quorum/redis-quorum-store.js'
import { RedisLeaseStore } from './redis-lease-store.js'
import { checkOptions, type RedisOptions, redisOptions } from './redis-options.js'

/**
 * The factory that `lease-class = "@leasehold/redis"` loads. All leases of one provider with the same options share a store
 * and its connections. Needs ioredis, which it loads at the first lease.
 */
export const redisLease = providerFactory(redisOptions, async (options, { clock }) => {
  checkOptions(options)
  const { prefix, recordLife, quorum } = options
  const clients = await openClients(options)
  const storeOptions = { prefix, recordLife, clock }
  return quorum === undefined
    ? new RedisLeaseStore(clients[0], storeOptions)
    : new RedisQuorumStore(clients, storeOptions)
})

async function openClients(options: RedisOptions): Promise<readonly [RedisClient, ...RedisClient[]]> {
  try {
    await import('ioredis')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const message = 'a configuration of @leasehold/redis needs ioredis: npm install ioredis'
    throw new LeaseConfigurationError(message, { store: 'redis', cause })
  }
  const clients = await import('./open-clients.js')
  return clients.openClients(options)
}
