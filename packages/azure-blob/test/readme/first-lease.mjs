import { setTimeout as sleep } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { createLease, durations } from '@leasehold/core'

const account = process.env.AZURE_STORAGE_CONNECTION_STRING ?? 'UseDevelopmentStorage=true'
// One try: the lease repeats requests itself, and so it can say what failed.
const service = BlobServiceClient.fromConnectionString(account, { retryOptions: { maxTries: 1 } })
const container = service.getContainerClient('leases')
const store = new AzureBlobLeaseStore(container)
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
