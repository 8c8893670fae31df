import type { LeaseStore } from '@leasehold/core'
import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'

/** For programs of other packages: leases on the server at a port, and writes to a guarded key of it. */
export function guardedRedis(port: number): {
  readonly store: LeaseStore
  readonly write: (key: string, token: bigint) => Promise<void>
} {
  const client = new Redis(port, '127.0.0.1')
  client.on('error', () => {})
  const guard = new RedisGuard(client)
  return {
    store: new RedisLeaseStore(client),
    write: (key, token) => guard.write(key, token, 'written'),
  }
}
