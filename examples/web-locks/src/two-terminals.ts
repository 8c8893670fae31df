import { LocalLeaseStore } from '@leasehold/local'
import { createLockManager } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const locks = createLockManager(store)

// Every instance does this. One imports at a time, and nobody reads meanwhile.
await locks.request('catalog', async ({ fencingToken }) => {
  console.log(`process ${process.pid} imports, token ${fencingToken}`) // your work
})
await locks.request('catalog', { mode: 'shared' }, async () => {
  console.log(`process ${process.pid} reads`)
})
await locks.stop()
await store.close()
