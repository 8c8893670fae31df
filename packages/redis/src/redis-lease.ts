import {
  type Clock,
  LeaseConfigurationError,
  type LeaseFactory,
  type LeaseStore,
  StoreLease,
  systemClock,
} from '@leasehold/core'
import type { RedisClient } from './client/redis-client.js'
import { RedisQuorumStore } from './quorum/redis-quorum-store.js'
import { RedisLeaseStore } from './redis-lease-store.js'
import { optionKeys, type RedisOptions, readOptions } from './redis-options.js'

const makeLease: LeaseFactory = async (settings, { clock, logger, share }) => {
  const options = readOptions(settings.options)
  const key = `redis:${JSON.stringify(optionKeys.map((name) => options[name] ?? null))}`
  const store = await share(key, () => openStore(options, clock))
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory that `lease-class = "@leasehold/redis"` loads. All leases of one provider with the same options share a store
 * and its connections. The options of the block are {@link RedisOptions}. Needs ioredis, which it loads at the first lease.
 */
export const redisLease: LeaseFactory = Object.assign(makeLease, { optionKeys })

async function openStore(options: RedisOptions, clock: Clock): Promise<LeaseStore> {
  const { prefix, recordLife } = options
  const clients = await openClients(options)
  // Only tests have another clock than the machine's.
  const time = clock === systemClock ? {} : { clock }
  const storeOptions = { prefix, recordLife, ...time }
  return options.quorum === undefined
    ? new RedisLeaseStore(clients[0], storeOptions)
    : new RedisQuorumStore(clients, storeOptions)
}

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
