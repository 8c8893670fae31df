import { LocalLeaseStore } from '@leasehold/local'
import { LeaseManager } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const manager = new LeaseManager(store, { name: 'invoices', heartbeatTimeout: 5_000 })

// Every instance does this with the same list. Each invoice is sent once while no process dies.
const invoices = ['anna', 'berta', 'carla', 'doris']
await manager.processEach(
  invoices,
  async (invoice, { fencingToken }) => {
    console.log(`process ${process.pid} sends ${invoice}, token ${fencingToken}`) // your work
  },
  { run: new Date().toISOString().slice(0, 7) }, // once in each month
)
await manager.stop()
await store.close()
