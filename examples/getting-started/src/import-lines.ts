import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

const store = new LocalLeaseStore({ folder: 'leases' })
const lease = createLease(store, 'import')

// Every instance does this. Each goes on where the last one stopped, also if that one has crashed.
await lease.run(
  async () => {
    const first = Number(lease.previous?.line ?? 0)
    for (let line = first; line < first + 3; line += 1) {
      console.log(`process ${process.pid} imports line ${line}`) // your work
      await lease.update({ line: String(line + 1) })
    }
  },
  { wait: Number.POSITIVE_INFINITY },
)
await store.close()
