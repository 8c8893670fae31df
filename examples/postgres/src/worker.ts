/** One of the four processes, on a lease of PostgreSQL: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import { PostgresLedger } from './postgres-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { DATABASE_URL = '', LEASEHOLD_SCHEMA = '' } = process.env

const pool = new Pool({ connectionString: DATABASE_URL })
pool.on('error', () => {})
const store = new PostgresLeaseStore(pool, { schema: LEASEHOLD_SCHEMA })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 600,
  operationTimeout: 1_000,
})
await runWorker({ folder, name, lease, store, ledger: new PostgresLedger(pool, LEASEHOLD_SCHEMA) })
