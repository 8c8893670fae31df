import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { AllOf } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const both = new AllOf([createLease(store, 'account/anna'), createLease(store, 'account/berta')])

// Every instance does this. No other transfer has one of the accounts meanwhile, and no two wait for each other.
await both.run(
  async ({ signal }) => {
    // The signal aborts if one of the leases is lost. Send each account the token of its own lease.
    for (const [account, token] of both.fencingTokens) {
      if (!signal.aborted) console.log(`process ${process.pid} changes ${account}, token ${token}`) // your work
    }
  },
  { wait: 30_000 },
)
await store.close()
