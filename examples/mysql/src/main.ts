/**
 * The failover demo on leases of MySQL: on a MySQL or MariaDB that it starts, or on the one of DATABASE_URL. Exits 0 if every
 * figure of its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { migrate } from '@leasehold/mysql'
import { mysqlPrograms } from '@leasehold/testing/mysql-program'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { createPool } from 'mysql2/promise'
import { createLedger, dropTables, readMysqlLedger } from './mysql-ledger.js'

const own = process.env.DATABASE_URL
const kind = mysqlPrograms.mysql.path === undefined ? 'mariadb' : 'mysql'
const server = own === undefined ? await MysqlServer.start(kind) : undefined
const url = own ?? server?.url ?? ''
const table = `demo_${randomUUID().replaceAll('-', '')}`

// The four processes read these.
process.env.DATABASE_URL = url
process.env.LEASEHOLD_TABLE = table

const pool = createPool(url)
try {
  await migrate(pool, { table })
  await createLedger(pool, table)
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 3_000,
    // Waiters poll every half second, the later ones every two seconds.
    longestHandOver: 3_000,
    readLedger: () => readMysqlLedger(pool, table),
  })
} finally {
  await dropTables(pool, table)
  await pool.end()
  await server?.stop()
}
