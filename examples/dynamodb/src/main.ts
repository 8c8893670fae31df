/**
 * The failover demo on leases of DynamoDB: on dynalite, or on the account of your AWS credentials if LEASEHOLD_TABLE names a
 * table there. Exits 0 if every figure of its summary holds.
 */
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { runDemo } from '@leasehold/example-failover'
import { readItemLedger } from './item-ledger.js'
import { startDynalite } from './start-dynalite.js'

const own = process.env.LEASEHOLD_TABLE
const dynalite = own === undefined ? await startDynalite() : undefined
if (dynalite !== undefined) {
  // For the client here, and for the four processes.
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  })
}
const TableName = own ?? 'leasehold-demo'
process.env.LEASEHOLD_TABLE = TableName
process.env.NODE_NO_WARNINGS = '1'

const client = new DynamoDBClient()
await client.send(
  new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
  }),
)
await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 2 }, { TableName })
try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 6_000,
    // Waiters poll about every second.
    longestHandOver: 6_000,
    readLedger: () => readItemLedger(client, TableName),
  })
} finally {
  await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
  dynalite?.stop()
}
