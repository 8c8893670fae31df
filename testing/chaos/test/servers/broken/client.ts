import type { LeaseStore } from '@leasehold/core'
import connectToRedis from '../../../src/systems/redis/client.js'
import type { RedisClientSettings } from '../../../src/systems/redis/settings.js'
import type { Connection } from '../../../src/systems/system.js'

/** Its store confirms every heartbeat without asking the server: a validity never ends. */
export default async function connect(settings: RedisClientSettings): Promise<Connection> {
  const { store, register, close } = await connectToRedis(settings)
  const broken = Object.assign(Object.create(store) as LeaseStore, {
    renew: () => Promise.resolve({ renewed: true as const }),
    renewMany: undefined,
  })
  return { store: boundTo(store, broken), register, close }
}

/** The methods of a store use private fields, which only the store itself has. */
function boundTo(store: LeaseStore, broken: LeaseStore): LeaseStore {
  return new Proxy(broken, {
    get(target, key) {
      const own: unknown = Reflect.get(Object.hasOwn(target, key) ? target : store, key)
      return typeof own === 'function' ? own.bind(store) : own
    },
  })
}
