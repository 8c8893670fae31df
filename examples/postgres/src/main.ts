/**
 * The failover demo on leases of PostgreSQL: on a server that it starts, or on the one of DATABASE_URL. Exits 0 if every
 * figure of its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { migrate } from '@leasehold/postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { createLedger, readPostgresLedger } from './postgres-ledger.js'

const own = process.env.DATABASE_URL
const server = own === undefined ? await PostgresServer.start() : undefined
const url = own ?? server?.url ?? ''
const schema = `leasehold_demo_${randomUUID().replaceAll('-', '')}`

// The four processes read these.
process.env.DATABASE_URL = url
process.env.LEASEHOLD_SCHEMA = schema

const pool = new Pool({ connectionString: url })
// The server may end before it has seen that an idle connection was closed.
pool.on('error', () => {})
try {
  await migrate(pool, { schema })
  await createLedger(pool, schema)
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 3_000,
    longestHandOver: 1_000,
    readLedger: () => readPostgresLedger(pool, schema),
  })
} finally {
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool.end()
  await server?.stop()
}
