import { createLease } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'

/** Creates the tables, and prints whether it was granted a lease in them. */
const pool = new Pool({ connectionString: process.argv[2] })
await migrate(pool)
const store = new PostgresLeaseStore(pool)
const lease = createLease(store, 'job')
process.stdout.write(String(await lease.acquire()))
await lease.release()
await store.close()
await pool.end()
