import { LocalLeaseStore } from '@leasehold/local'
import { ReadWriteLease } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const prices = new ReadWriteLease(store, { name: 'prices', readers: 20 })

// Every instance reads, at the same time as others.
await prices.shared.run(async () => console.log(`process ${process.pid} reads the prices`), { wait: 30_000 })

// One instance writes, and nobody reads meanwhile. Send the token with each write.
await prices.exclusive.run(
  async ({ fencingToken }) => console.log(`process ${process.pid} writes the prices, token ${fencingToken}`),
  { wait: 30_000 },
)
await store.close()
