import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'

const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? 'postgres://postgres:secret@localhost/postgres' })
// Without a listener, pg ends the process when the server restarts.
pool.on('error', console.error)
await migrate(pool) // creates the tables, the first time
const store = new PostgresLeaseStore(pool)
const lease = createLease(store, 'mailbox', durations.leaderElection)

await lease.run(
  async ({ signal, fencingToken }) => {
    console.log(`process ${process.pid} has its turn, with the token ${fencingToken}`)
    // Your work. Pass the signal on, and send the token with each write.
    await sleep(10_000, undefined, { signal })
    console.log('done')
  },
  { wait: 60_000 },
)
await store.close()
await pool.end()
