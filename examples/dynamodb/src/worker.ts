/** One of the four processes, on a lease of DynamoDB: `worker.ts FOLDER NAME`. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLease } from '@leasehold/core'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { runWorker } from '@leasehold/example-failover'
import { ItemLedger } from './item-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { LEASEHOLD_TABLE: table } = process.env

// #region lease
const client = new DynamoDBClient()
const store = new DynamodbLeaseStore(client, { table })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 6_000,
  heartbeatInterval: 1_000,
  operationTimeout: 2_000,
})
// #endregion lease
// A client of its own: heartbeats do not wait for the connections of the writes.
const ledger = new ItemLedger(new DynamoDBClient(), table ?? '')
await runWorker({ folder, name, lease, store, ledger })
