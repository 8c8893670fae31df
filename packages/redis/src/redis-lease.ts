import { providerFactory } from '@leasehold/core/store-kit'
import { RedisQuorumStore } from './quorum/redis-quorum-store.js'
import { RedisLeaseStore } from './redis-lease-store.js'
import { checkOptions, redisOptions, wrong } from './redis-options.js'

/**
 * The factory that `lease-class = "@leasehold/redis"` loads. All leases of one provider with the same options share a store
 * and its connections. Needs ioredis, which it loads at the first lease.
 */
export const redisLease = providerFactory(redisOptions, async (options, { clock, random }) => {
  checkOptions(options)
  const { prefix, recordLife, quorum } = options
  const { openClients } = await loadClients()
  const clients = openClients(options)
  const storeOptions = { prefix, recordLife, clock, random }
  return quorum === undefined
    ? new RedisLeaseStore(clients[0], storeOptions)
    : new RedisQuorumStore(clients, storeOptions)
})

async function loadClients(): Promise<typeof import('./open-clients.js')> {
  try {
    return await import('./open-clients.js')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw wrong('a configuration of @leasehold/redis needs ioredis: npm install ioredis', cause)
  }
}
