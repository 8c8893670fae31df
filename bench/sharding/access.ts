import type { LeaseStore } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import type { EntityState } from '@leasehold/sharding'
import { postgresState } from '@leasehold/sharding/postgres'
import { redisState } from '@leasehold/sharding/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

export type ServerKind = 'redis' | 'postgres'

/** The largest number of connections of a process to PostgreSQL. */
const CONNECTIONS = 8

/** The store and the state of one process. */
export function openServer(kind: ServerKind, url: string): { readonly store: LeaseStore; readonly state: EntityState } {
  if (kind === 'redis') {
    const [leases, entities] = [0, 1].map((db) => {
      const client = new Redis(url, { maxRetriesPerRequest: 1, db })
      client.on('error', () => {})
      return client
    }) as [Redis, Redis]
    // A listing of leases scans all keys of its database: the entities are in another one.
    return { store: new RedisLeaseStore(leases), state: redisState(entities) }
  }
  const pool = new Pool({ connectionString: url, max: CONNECTIONS, connectionTimeoutMillis: 3_000 })
  pool.on('error', () => {})
  return { store: new PostgresLeaseStore(pool), state: postgresState(pool) }
}
