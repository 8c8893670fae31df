/** One of the four processes, on a lease of NATS: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { NatsLeaseStore } from '@leasehold/nats'
import { connect } from '@nats-io/transport-node'
import { NatsLedger } from './nats-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { NATS_URL = '', LEASEHOLD_BUCKET = '', LEASEHOLD_LEDGER = '' } = process.env

const connection = await connect({ servers: NATS_URL, maxReconnectAttempts: -1 })
const store = new NatsLeaseStore(connection, { bucket: LEASEHOLD_BUCKET })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 600,
  operationTimeout: 500,
})
await runWorker({ folder, name, lease, store, ledger: new NatsLedger(connection, LEASEHOLD_LEDGER) })
await connection.close()
