/** One of the four processes, on a lease in a bucket: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { S3LeaseStore } from '@leasehold/s3'
import { ObjectLedger } from './object-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { BUCKET = '', LEASEHOLD_PREFIX = '' } = process.env

// #region lease
// The region, the keys and the address are those of the environment.
const store = new S3LeaseStore({ bucket: BUCKET, prefix: `${LEASEHOLD_PREFIX}leases/` })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 6_000,
  heartbeatInterval: 1_000,
  operationTimeout: 2_000,
})
// #endregion lease
const ledger = new ObjectLedger({ bucket: BUCKET }, `${LEASEHOLD_PREFIX}ledger.json`)
await runWorker({ folder, name, lease, store, ledger })
