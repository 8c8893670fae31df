// #region example
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLease } from '@leasehold/core'
import { DynamodbGuard, DynamodbLeaseStore } from '@leasehold/dynamodb'

export async function closeMonth(client: DynamoDBClient, month: string, sum: () => Promise<number>): Promise<void> {
  const store = new DynamodbLeaseStore(client, { table: 'leases' })
  const guard = new DynamodbGuard(client, { table: 'leases' })
  await createLease(store, 'close-month', { heartbeatTimeout: 15_000, heartbeatInterval: 3_000 }).run(
    async ({ fencingToken }) => {
      const total = await sum()
      // Rejects with a LeaseLostError, and writes nothing, if a larger token has written this month.
      await guard.write(month, fencingToken, {
        TableName: 'months',
        Item: { month: { S: month }, total: { N: String(total) } },
      })
    },
  )
  await store.close()
}
// #endregion example
