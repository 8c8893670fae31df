/** One of the four processes, on a lease of PostgreSQL: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import { PostgresLedger } from './postgres-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { DATABASE_URL = '', LEASEHOLD_SCHEMA = '' } = process.env

// A pool of its own for the leases: the ledger may have hundreds of writes that wait for a connection.
const [leases, entries] = [connect(4), connect(6)]
const store = new PostgresLeaseStore(leases, { schema: LEASEHOLD_SCHEMA })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 600,
  operationTimeout: 1_000,
})
await runWorker({ folder, name, lease, store, ledger: new PostgresLedger(entries, LEASEHOLD_SCHEMA) })

function connect(max: number): Pool {
  return new Pool({ connectionString: DATABASE_URL, max }).on('error', () => {})
}
