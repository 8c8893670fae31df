import { type DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import type { DynamodbLeaseStore, LeaseUnderToken } from '@leasehold/dynamodb'

// #region condition
/** Writes only while the lease is still under this token. */
export async function book(
  client: DynamoDBClient,
  store: DynamodbLeaseStore,
  lease: LeaseUnderToken, // { name, fencingToken }
  account: string,
  amount: number,
): Promise<void> {
  const add = {
    TableName: 'accounts',
    Key: { id: { S: account } },
    UpdateExpression: 'ADD balance :amount',
    ExpressionAttributeValues: { ':amount': { N: String(amount) } },
  }
  await client.send(new TransactWriteItemsCommand({ TransactItems: [store.condition(lease), { Update: add }] }))
}
// #endregion condition
