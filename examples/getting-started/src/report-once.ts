import { LocalLeaseStore } from '@leasehold/local'
import { Once } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const once = new Once(store, { name: 'nightly-report' })

/** Your work. */
async function writeReport() {
  console.log(`process ${process.pid} writes the report`)
  return 'report.pdf'
}

// Every instance does this. One of them writes the report of the day, and all get the name of its file.
const today = new Date().toISOString().slice(0, 10)
const file = await once.run(today, () => writeReport(), { wait: 10 * 60_000 })
console.log(`process ${process.pid}: the report is in ${file}`)
await store.close()
