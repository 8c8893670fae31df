/** One of the four processes, on a lease of MySQL: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { MysqlLeaseStore } from '@leasehold/mysql'
import { createPool } from 'mysql2/promise'
import { MysqlLedger } from './mysql-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { DATABASE_URL = '', LEASEHOLD_TABLE: table = '' } = process.env

// A pool of its own for the leases: the ledger may have hundreds of writes that wait for a connection.
const leases = createPool({ uri: DATABASE_URL, connectionLimit: 5 })
const entries = createPool({ uri: DATABASE_URL, connectionLimit: 6 })
const store = new MysqlLeaseStore(leases, { table })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 600,
  operationTimeout: 1_000,
})
await runWorker({ folder, name, lease, store, ledger: new MysqlLedger(entries, table) })
