import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { S3LeaseStore } from '@leasehold/s3'

// Region, credentials and address are those of AWS_REGION, AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL_S3 and so on.
const store = new S3LeaseStore({ bucket: process.env.BUCKET ?? 'my-leases' })
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
