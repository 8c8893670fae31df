import { createLease, durations } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { Valkey } from 'iovalkey'

const valkey = new Valkey(process.env.VALKEY_URL ?? 'redis://localhost:6379', { lazyConnect: true })
const store = new RedisLeaseStore(valkey)

await createLease(store, 'mailbox', durations.leaderElection).run(
  async ({ fencingToken }) => {
    console.log(`process ${process.pid} has its turn, with the token ${fencingToken}`)
    // Your work.
    console.log('done')
  },
  { wait: 60_000 },
)
await store.close()
