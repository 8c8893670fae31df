import { LocalLeaseStore } from '@leasehold/local'
import { createLockManager } from '@leasehold/recipes'

const locks = createLockManager(new LocalLeaseStore({ folder: 'leases' }))

// Every instance does this. One imports at a time, and nobody reads meanwhile.
await locks.request('catalog', async ({ fencingToken }) => {
  console.log(`process ${process.pid} imports, token ${fencingToken}`) // your work
})
await locks.request('catalog', { mode: 'shared' }, async () => {
  console.log(`process ${process.pid} reads`)
})
await locks.stop()
