/** One of the four processes, on a lease of etcd: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import { runWorker } from '@leasehold/example-failover'
import { EtcdLedger } from './etcd-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { ETCD_ENDPOINT = '', LEASEHOLD_PREFIX = '' } = process.env

const client = new EtcdClient({ endpoints: [ETCD_ENDPOINT] })
const store = new EtcdLeaseStore(client, { prefix: `${LEASEHOLD_PREFIX}leases/` })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 4_000,
  heartbeatInterval: 800,
  operationTimeout: 1_000,
})
await runWorker({ folder, name, lease, store, ledger: new EtcdLedger(client, `${LEASEHOLD_PREFIX}ledger`) })
