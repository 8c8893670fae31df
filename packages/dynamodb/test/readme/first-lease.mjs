import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLease, durations } from '@leasehold/core'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'

const client = new DynamoDBClient() // by your environment: AWS_REGION, AWS_PROFILE and so on
const store = new DynamodbLeaseStore(client, { table: 'leases', create: true })
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
