import type { Grant } from '@leasehold/core'
import { ITEM, leaseKey } from './lease-item.js'
import type { TableName } from './table-advice.js'

/** A `ConditionCheck` for `TransactItems`. */
export interface LeaseCondition {
  readonly ConditionCheck: {
    readonly TableName: string
    // biome-ignore lint/suspicious/noExplicitAny: the values are those of the client or of the document client
    readonly Key: Record<string, any>
    readonly ConditionExpression: string
    readonly ExpressionAttributeNames: Record<string, string>
    // biome-ignore lint/suspicious/noExplicitAny: see Key
    readonly ExpressionAttributeValues: Record<string, any>
  }
}

/** The condition that the lease is still under this grant. `native`: values as the document client takes them. */
export function leaseCondition(
  { table, partitionKey }: TableName,
  { name, fencingToken }: Pick<Grant, 'name' | 'fencingToken'>,
  native: boolean,
): LeaseCondition {
  const key = leaseKey(partitionKey, name)
  return {
    ConditionCheck: {
      TableName: table,
      Key: native ? { [partitionKey]: name } : key,
      // A free name has no owner, but still the token of its last grant.
      ConditionExpression: '#fencingToken = :fencingToken AND attribute_exists(#owner)',
      ExpressionAttributeNames: { '#fencingToken': ITEM.fencingToken, '#owner': ITEM.owner },
      ExpressionAttributeValues: { ':fencingToken': native ? fencingToken : { N: String(fencingToken) } },
    },
  }
}
