import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { MysqlLeaseStore } from '@leasehold/mysql'
import { createPool } from 'mysql2/promise'

const pool = createPool(process.env.DATABASE_URL ?? 'mysql://root:secret@127.0.0.1/app')
// The first operation creates the tables.
const store = new MysqlLeaseStore(pool)
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
