import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { Semaphore } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const downloads = new Semaphore(store, { name: 'downloads', permits: 3 })

// Every instance does this. All of them together load at most three files at the same time.
const files = ['a.zip', 'b.zip', 'c.zip', 'd.zip']
await Promise.all(
  files.map((file) =>
    downloads.run(
      async ({ signal }) => {
        console.log(`process ${process.pid} loads ${file}`)
        await pause(1_000, undefined, { signal }) // your work. The signal aborts if the permit is lost.
      },
      { wait: Number.POSITIVE_INFINITY },
    ),
  ),
)
await store.close()
