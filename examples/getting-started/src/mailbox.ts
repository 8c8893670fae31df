import { setTimeout as pause } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

const store = new LocalLeaseStore({ folder: 'leases' })
const lease = createLease(store, 'mailbox')

// Every instance does this. One reads the mailbox at a time; the others wait until it ends or dies.
await lease.run(
  async ({ signal, fencingToken }) => {
    // The signal aborts if the lease is lost. Send the token with each write.
    console.log(`process ${process.pid} reads the mailbox, token ${fencingToken}`)
    await pause(2_000, undefined, { signal }) // your work
    console.log(`process ${process.pid} has read the mailbox`)
  },
  { wait: Number.POSITIVE_INFINITY },
)
await store.close()
