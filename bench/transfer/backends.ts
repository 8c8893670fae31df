import type { LeaseStore } from '@leasehold/core'
import { migrate, PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

/** A server with the leases and the data of the service. */
export interface Backend {
  readonly url: string
  stop(): Promise<void>
}

/** The access of one instance. */
export interface Access {
  readonly store: LeaseStore
  /** Writes under the token of a term. Rejects if a later term has written. */
  write(term: bigint): Promise<void>
  close(): Promise<void>
}

/** The largest number of connections of an instance to PostgreSQL. */
export const CONNECTIONS = 4

const RESOURCE = 'data'

export async function startBackend(kind: string): Promise<Backend> {
  if (kind === 'redis') return await RedisServer.start()
  const server = await PostgresServer.start()
  const pool = new Pool({ connectionString: server.url })
  await migrate(pool)
  await pool.end()
  return server
}

export function openAccess(kind: string, url: string): Access {
  return kind === 'redis' ? ofRedis(url) : ofPostgres(url)
}

function ofRedis(url: string): Access {
  const redis = new Redis(url)
  const guard = new RedisGuard(redis)
  const store = new RedisLeaseStore(redis)
  return {
    store,
    write: (term) => guard.write(RESOURCE, term, 'written'),
    async close() {
      await store.close()
      redis.disconnect()
    },
  }
}

function ofPostgres(url: string): Access {
  const pool = new Pool({ connectionString: url, max: CONNECTIONS, idleTimeoutMillis: 0 })
  // At the end, the server may close a connection before the pool does.
  pool.on('error', () => {})
  const guard = new PostgresGuard()
  const store = new PostgresLeaseStore(pool)
  return {
    store,
    async close() {
      await store.close()
      await pool.end()
    },
    async write(term) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await guard.transact(RESOURCE, term, client)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  }
}
