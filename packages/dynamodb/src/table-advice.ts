import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'

/** The table of leases, for the commands and policies in messages. */
export interface TableName {
  readonly table: string
  readonly partitionKey: string
}

/** The command that makes the table. */
export function createCommand({ table, partitionKey }: TableName): string {
  return (
    `aws dynamodb create-table --table-name ${table} --attribute-definitions AttributeName=${partitionKey},AttributeType=S ` +
    `--key-schema AttributeName=${partitionKey},KeyType=HASH --billing-mode PAY_PER_REQUEST`
  )
}

/** The key of the table, for its creation. */
export function keySchema({
  partitionKey,
}: TableName): Pick<CreateTableCommandInput, 'AttributeDefinitions' | 'KeySchema'> {
  return {
    AttributeDefinitions: [{ AttributeName: partitionKey, AttributeType: 'S' }],
    KeySchema: [{ AttributeName: partitionKey, KeyType: 'HASH' }],
  }
}

/** What the key of the table has to be, and what to do if it is another one. */
export function keyAdvice({ table, partitionKey }: TableName): string {
  return (
    `the key of table '${table}' must be the partition key '${partitionKey}' of type String, without a sort key. Set ` +
    `partitionKey to its name, or create a table for the leases: ${createCommand({ table: 'leases', partitionKey })}`
  )
}

/** The policy that an identity needs, in one line. */
export function policyFor({ table }: TableName): string {
  const actions = [
    'GetItem',
    'PutItem',
    'UpdateItem',
    'ConditionCheckItem',
    'Scan',
    'DescribeTable',
    'DescribeTimeToLive',
  ]
  return JSON.stringify({
    Effect: 'Allow',
    Action: actions.map((action) => `dynamodb:${action}`),
    Resource: table.startsWith('arn:') ? table : `arn:aws:dynamodb:*:*:table/${table}`,
  })
}
