import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { LeaseLostError } from '@leasehold/core'
import { BatchedLedger, type Entry, parseLedger, toLine } from '@leasehold/example-failover'

const KEY = { name: { S: 'leasehold-demo/ledger' } }

/** An item with a list of entries. A write appends to it, if its fencing token is not older than that in the item. */
export class ItemLedger extends BatchedLedger {
  readonly #client: DynamoDBClient
  readonly #table: string

  constructor(client: DynamoDBClient, table: string) {
    super()
    this.#client = client
    this.#table = table
  }

  // #region fenced
  protected override async append(token: bigint, entries: readonly Entry[]): Promise<void> {
    const append = new UpdateItemCommand({
      TableName: this.#table,
      Key: KEY,
      UpdateExpression: 'SET #lines = list_append(if_not_exists(#lines, :none), :lines), #token = :token',
      ConditionExpression: 'attribute_not_exists(#token) OR #token <= :token',
      ExpressionAttributeNames: { '#lines': 'lines', '#token': 'fencingToken' },
      ExpressionAttributeValues: {
        ':none': { L: [] },
        ':lines': { L: entries.map((entry) => ({ S: toLine(entry) })) },
        ':token': { N: String(token) },
      },
    })
    try {
      await this.#client.send(append)
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') throw error
      throw new LeaseLostError(`the token ${token} is older than that of the ledger`, { reason: 'taken' })
    }
  }
  // #endregion fenced

  override async close(): Promise<void> {
    await super.close()
    this.#client.destroy()
  }
}

export async function readItemLedger(client: DynamoDBClient, table: string): Promise<readonly Entry[]> {
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: KEY, ConsistentRead: true }))
  return parseLedger((Item?.lines?.L ?? []).map(({ S = '' }) => S).join(''))
}
