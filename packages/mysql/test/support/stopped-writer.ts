/**
 * A process that acquires a lease, begins a transaction with a guard, writes, says `inside`, and commits on its first input:
 * `stopped-writer.ts PORT NAME TTL`.
 */
import { createLease } from '@leasehold/core'
import { MysqlGuard, MysqlLeaseStore } from '@leasehold/mysql'
import { silentLogger } from '@leasehold/testing'
import { poolTo } from './libraries.js'

const [port = '', name = '', ttl = ''] = process.argv.slice(2)
const pool = poolTo({ port: Number(port) })
const store = new MysqlLeaseStore(pool)
const lease = createLease(store, name, { heartbeatTimeout: Number(ttl), owner: 'stopped', logger: silentLogger })
if (!(await lease.acquire({ wait: 30_000 }))) throw new Error('the name is held')
const connection = await pool.getConnection()
await connection.beginTransaction()
await new MysqlGuard().transactUnderLease(name, lease.fencingToken, connection)
await connection.query("insert into writes (owner) values ('stopped')")
process.stdin
  // It must not outlive its parent.
  .on('end', () => process.exit())
  .once('data', async () => {
    const said = await connection.query('commit').then(
      () => 'committed',
      () => 'failed',
    )
    process.stdout.write(`${said}\n`)
  })
process.stdout.write('inside\n')
