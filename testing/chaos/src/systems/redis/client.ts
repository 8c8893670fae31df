import { LeaseLostError } from '@leasehold/core'
import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import type { Connection } from '../system.js'
import type { RedisClientSettings } from './settings.js'

/** Writes with the guard of the package, over a connection without a queue, so that no write is sent late. */
export default function connect({ port, operationTimeout }: RedisClientSettings): Promise<Connection> {
  const redis = new Redis(port, '127.0.0.1', {
    commandTimeout: operationTimeout,
    connectTimeout: operationTimeout,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 100,
  })
  // Its commands are rejected, too.
  redis.on('error', () => {})
  const store = new RedisLeaseStore(redis)
  const guard = new RedisGuard(redis)
  return Promise.resolve({
    store,
    register: (name) => ({
      write: async (value, token) => {
        try {
          await guard.write(`register:${name}`, token, value)
          return 'accepted'
        } catch (error) {
          if (error instanceof LeaseLostError) return 'refused'
          throw error
        }
      },
      read: async () => (await redis.get(`register:${name}`)) ?? undefined,
    }),
    close: async () => {
      await store.close()
      redis.disconnect()
    },
  })
}
