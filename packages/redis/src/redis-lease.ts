import { type Clock, type LeaseFactory, type LeaseStore, StoreLease, systemClock } from '@leasehold/core'
import { openClients } from './open-clients.js'
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
 * The factory of leases on Redis, what `lease-class = "@leasehold/redis"` names: all leases of one provider with the same
 * options share their store and its connections. Of the block it reads the {@link RedisOptions}.
 */
export const redisLease: LeaseFactory = Object.assign(makeLease, { optionKeys })

function openStore(options: RedisOptions, clock: Clock): LeaseStore {
  const { prefix, recordLife } = options
  const clients = openClients(options)
  // A clock that is not the machine's is a test's; the store's must then be the same.
  const time = clock === systemClock ? {} : { clock }
  const storeOptions = { prefix, recordLife, ...time }
  return options.quorum === undefined
    ? new RedisLeaseStore(clients[0], storeOptions)
    : new RedisQuorumStore(clients, storeOptions)
}
