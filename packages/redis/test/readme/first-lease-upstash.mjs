import { createLease, durations } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from '@upstash/redis'

// Reads UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or KV_REST_API_URL and KV_REST_API_TOKEN.
const store = new RedisLeaseStore(Redis.fromEnv())

await createLease(store, 'mailbox', durations.leaderElection).run(
  async ({ fencingToken }) => {
    console.log(`process ${process.pid} has its turn, with the token ${fencingToken}`)
    // Your work.
    console.log('done')
  },
  { wait: 60_000 },
)
await store.close()
