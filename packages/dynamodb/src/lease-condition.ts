import type { Grant } from '@leasehold/core'
import { ITEM } from './lease-item.js'
import type { TableName } from './table-advice.js'

/** A `ConditionCheck` for `TransactItems`, with values as the client takes them, or as the document client does. */
export interface LeaseCondition<Value> {
  readonly ConditionCheck: {
    readonly TableName: string
    readonly Key: Record<string, Value>
    readonly ConditionExpression: string
    readonly ExpressionAttributeNames: Record<string, string>
    readonly ExpressionAttributeValues: Record<string, Value>
  }
}

/** The condition that the lease is still under this grant. `text` and `number`: make values of the lease name and the token. */
export function leaseCondition<Value>(
  { table, partitionKey }: TableName,
  { name, fencingToken }: Pick<Grant, 'name' | 'fencingToken'>,
  text: (value: string) => Value,
  number: (value: bigint) => Value,
): LeaseCondition<Value> {
  return {
    ConditionCheck: {
      TableName: table,
      Key: { [partitionKey]: text(name) },
      // A free name has no owner, but still the token of its last grant.
      ConditionExpression: '#fencingToken = :fencingToken AND attribute_exists(#owner)',
      ExpressionAttributeNames: { '#fencingToken': ITEM.fencingToken, '#owner': ITEM.owner },
      ExpressionAttributeValues: { ':fencingToken': number(fencingToken) },
    },
  }
}
