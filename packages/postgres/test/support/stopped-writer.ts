/**
 * A process that acquires a lease, begins a transaction with a guard, writes, says `inside`, and commits on its first input:
 * `stopped-writer.ts URL SCHEMA TTL IDLE_LIMIT`.
 */
import { createLease } from '@leasehold/core'
import { PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import { silentLogger } from '@leasehold/testing'
import { Pool } from 'pg'

const [url = '', schema = '', ttl = '', idleLimit = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: url })
pool.on('error', () => {})
const store = new PostgresLeaseStore(pool, { schema })
const lease = createLease(store, 'job', { heartbeatTimeout: Number(ttl), owner: 'stopped', logger: silentLogger })
if (!(await lease.acquire())) throw new Error('the name is held')
const client = await pool.connect()
client.on('error', () => {})
await client.query('begin')
const limit = idleLimit === '' ? {} : { idleLimit: Number(idleLimit) }
await new PostgresGuard({ schema }).transactUnderLease('job', lease.fencingToken, client, limit)
await client.query(`insert into ${schema}.writes (owner) values ('stopped')`)
process.stdin
  // It must not outlive its parent.
  .on('end', () => process.exit())
  .once('data', async () => {
    const said = await client.query('commit').then(
      () => 'committed',
      () => 'failed',
    )
    process.stdout.write(`${said}\n`)
  })
process.stdout.write('inside\n')
