import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

const store = new LocalLeaseStore({ folder: 'leases' })
const leader = createLease(store, 'leader')
const importing = createLease(store, 'import orders', { parent: leader })

// Every instance does this. Only the leader imports, and the import ends with its leadership.
await leader.run(
  () =>
    importing.run(async ({ signal }) => {
      // The signal aborts if one of the two leases is lost.
      console.log(`process ${process.pid} imports, ${signal.aborted ? 'too late' : 'as the leader'}`) // your work
    }),
  { wait: Number.POSITIVE_INFINITY },
)
await store.close()
