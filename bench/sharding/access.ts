import type { LeaseStore } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import type { EntityState } from '@leasehold/sharding'
import { migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import { redisState } from '@leasehold/sharding/redis'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

export type ServerKind = 'redis' | 'postgres'

/** A server with the leases and the entities. */
export interface Server {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/** The largest number of connections of a process to PostgreSQL. */
const CONNECTIONS = 8

export async function startServer(kind: ServerKind): Promise<Server> {
  if (kind === 'redis') return await RedisServer.start({ args: ['--appendonly', 'no', '--save', ''] })
  const server = await PostgresServer.start()
  const pool = new Pool({ connectionString: server.url, max: 1 })
  await migrateEntities(pool)
  await pool.end()
  return server
}

/** The store and the state of one process. */
export function openServer(kind: ServerKind, url: string): { readonly store: LeaseStore; readonly state: EntityState } {
  if (kind === 'redis') {
    const client = new Redis(url, { maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    return { store: new RedisLeaseStore(client), state: redisState(client) }
  }
  const pool = new Pool({ connectionString: url, max: CONNECTIONS, connectionTimeoutMillis: 3_000 })
  pool.on('error', () => {})
  return { store: new PostgresLeaseStore(pool), state: postgresState(pool) }
}
