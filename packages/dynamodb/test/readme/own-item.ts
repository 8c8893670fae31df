// #region own-item
import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'

/** One write, at the price of one write: the token is in the item itself. */
export async function setPrice(client: DynamoDBClient, product: string, price: number, fencingToken: bigint) {
  await client.send(
    new UpdateItemCommand({
      TableName: 'products',
      Key: { id: { S: product } },
      UpdateExpression: 'SET price = :price, #token = :token',
      // An older holder gets a ConditionalCheckFailedException.
      ConditionExpression: 'attribute_not_exists(#token) OR #token <= :token',
      ExpressionAttributeNames: { '#token': 'fencingToken' },
      ExpressionAttributeValues: { ':price': { N: String(price) }, ':token': { N: String(fencingToken) } },
    }),
  )
}
// #endregion own-item
