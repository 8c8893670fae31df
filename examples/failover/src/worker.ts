/** One of the four processes, with the local store: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { FileLedger } from './file-ledger.js'
import { runWorker } from './run-worker.js'

const [folder = '', name = ''] = process.argv.slice(2)
const store = new LocalLeaseStore({ folder })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 500,
  operationTimeout: 500,
})
await runWorker({ folder, name, lease, store, ledger: new FileLedger(folder) })
