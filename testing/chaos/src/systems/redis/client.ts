import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { guardedWrite } from '../guarded-write.js'
import { redisConnection } from '../redis-connection.js'
import type { Connection } from '../system.js'
import type { RedisClientSettings } from './settings.js'

/** Writes with the guard of the package, over a connection without a queue, so that no write is sent late. */
export default function connect({ port, operationTimeout }: RedisClientSettings): Promise<Connection> {
  const redis = redisConnection(port, operationTimeout)
  const store = new RedisLeaseStore(redis)
  const guard = new RedisGuard(redis)
  return Promise.resolve({
    store,
    register: (name) => ({
      write: (value, token) => guardedWrite(guard.write(`register:${name}`, token, value)),
      read: async () => (await redis.get(`register:${name}`)) ?? undefined,
    }),
    close: async () => {
      await store.close()
      redis.disconnect()
    },
  })
}
