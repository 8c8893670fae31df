import { Pool } from 'pg'
import type { PostgresClientSettings } from './settings.js'

/** A pool whose requests settle: with an error if there is no answer in time. */
export function poolTo({ port, operationTimeout }: PostgresClientSettings, max: number): Pool {
  const pool = new Pool({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
    max,
    connectionTimeoutMillis: operationTimeout,
    query_timeout: operationTimeout,
    // The server must not keep the locks of a client that is stopped, or was cut off.
    idle_in_transaction_session_timeout: operationTimeout,
  })
  // The requests on a connection that ends are rejected, too.
  pool.on('error', () => {})
  return pool
}
