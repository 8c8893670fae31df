import { type DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import type { Grant } from '@leasehold/core'
import type { DynamodbLeaseStore } from '@leasehold/dynamodb'

// #region condition
/** Writes only while the lease is still under this grant: `lease.grant`, or `{ name, fencingToken }` within `run`. */
export async function book(
  client: DynamoDBClient,
  store: DynamodbLeaseStore,
  grant: Pick<Grant, 'name' | 'fencingToken'>,
  account: string,
  amount: number,
): Promise<void> {
  const add = {
    TableName: 'accounts',
    Key: { id: { S: account } },
    UpdateExpression: 'ADD balance :amount',
    ExpressionAttributeValues: { ':amount': { N: String(amount) } },
  }
  await client.send(new TransactWriteItemsCommand({ TransactItems: [store.condition(grant), { Update: add }] }))
}
// #endregion condition
