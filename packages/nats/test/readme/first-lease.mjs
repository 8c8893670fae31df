import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { NatsLeaseStore } from '@leasehold/nats'

const store = new NatsLeaseStore({ servers: [process.env.NATS_URL ?? 'nats://localhost:4222'] })
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
