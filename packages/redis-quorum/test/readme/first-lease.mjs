import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { Redis } from 'ioredis'

const urls = process.env.REDIS_URLS ?? 'redis://localhost:7001,redis://localhost:7002,redis://localhost:7003'
const clients = urls.split(',').map((url) => new Redis(url, { lazyConnect: true }))
const store = new RedisQuorumLeaseStore(clients)
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
