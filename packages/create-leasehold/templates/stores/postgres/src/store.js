// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { migrate, PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'

const { DATABASE_URL = 'postgres://postgres:postgres@localhost:5432/postgres' } = process.env

/** After how many milliseconds without a heartbeat another process takes over. */
export const heartbeatTimeout = 10_000

export const advice = `Start PostgreSQL: docker compose up -d. Or set DATABASE_URL to the URL of yours, such as postgres://USER:PASSWORD@HOST:5432/DATABASE.`

/**
 * The leases, and the data that the holder writes: tables of the same database.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  // The leases have a pool of their own: behind your queries, a heartbeat could come too late.
  const leases = new Pool({ connectionString: DATABASE_URL, max: 4, connectionTimeoutMillis: 5_000 })
  const data = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5_000 })
  // A query that fails says so itself.
  for (const pool of [leases, data]) pool.on('error', () => {})
  await migrate(leases)
  await data.query('create table if not exists saved (key text primary key, content text not null)')
  const store = new PostgresLeaseStore(leases)
  const guard = new PostgresGuard()
  return {
    store,
    save: async (key, text, { fencingToken, signal }) => {
      const client = await data.connect()
      try {
        await client.query('begin')
        // Rejects if a later holder has written this key.
        await guard.transact(`saved ${key}`, fencingToken, client, { signal })
        await client.query(
          'insert into saved values ($1, $2) on conflict (key) do update set content = excluded.content',
          [key, text],
        )
        await client.query('commit')
        client.release()
      } catch (error) {
        // The connection is closed, and the server undoes the transaction.
        client.release(true)
        throw error
      }
    },
    close: async () => {
      await store.close()
      await leases.end()
      await data.end()
    },
  }
}
