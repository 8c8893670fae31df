import type { Clock } from '@leasehold/core'
import { misconfiguredFor, type OptionNames, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'
import { itemAttributes } from './lease-item.js'

export const misconfigured = misconfiguredFor('dynamodb')

/** The options of the block `leasehold.dynamodb`. After a change: `npm run docs:update`. */
export const dynamodbOptions = new ProviderOptions('dynamodb', {
  table: { type: 'text', default: '"leases"', description: 'The name or the ARN of the table.' },
  partitionKey: {
    type: 'text',
    default: '"name"',
    description: 'The name of the partition key of the table. Its type is String, and the table has no sort key.',
  },
  create: {
    type: 'switch',
    default: 'off',
    description:
      'Whether to create the table if it does not exist, with on-demand capacity. This takes some seconds, and needs ' +
      '`dynamodb:CreateTable` and `dynamodb:DescribeTable`.',
  },
  globalTable: {
    type: 'choice',
    words: ['refuse', 'one-region'],
    default: '"refuse"',
    description:
      'A global table with eventual consistency keeps the last write of two regions: both could hold a lease, so it is ' +
      'refused. `one-region` says that all processes that share leases use the same region.',
  },
  probe: {
    type: 'switch',
    default: 'on',
    description:
      'Whether the table is checked before the first grant, in about nine requests: its key, its replicas, its TTL, and ' +
      'whether it keeps conditions.',
  },
  clockDifference: {
    type: 'duration',
    default: '1s',
    description:
      'By how much the clocks of the servers behind the endpoint may differ. A challenger compares two of their times ' +
      'before it takes over from a dead holder that an earlier challenger has seen. `Infinity` in code: no times are compared, ' +
      'and each challenger observes the item itself.',
  },
  region: {
    type: 'text',
    description:
      'The region of the client that the store makes. Default: that of the environment, such as `AWS_REGION`.',
  },
  endpoint: {
    type: 'text',
    description: 'The URL of the service for the client that the store makes, such as that of DynamoDB local.',
  },
})

/** The options of a block, in camel case. Their descriptions are in {@link dynamodbOptions}. */
export type DynamodbOptions = Partial<OptionsOf<(typeof dynamodbOptions)['declarations']>>

/**
 * Your client: a `DynamoDBClient`, or a `DynamoDBDocumentClient` over one. Its region, credentials, proxies and retries
 * are used. It stays open.
 */
export interface DynamodbClient {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
  readonly config: object
}

/** The table. */
export type DynamodbTableOptions = Pick<DynamodbOptions, 'table' | 'partitionKey'>

export interface DynamodbLeaseStoreOptions extends Omit<DynamodbOptions, 'region' | 'endpoint'> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

const { region: _, endpoint: __, ...names } = dynamodbOptions.names

/** The names of the options of a store in code. */
export const optionNames: OptionNames<DynamodbLeaseStoreOptions> = { ...names, clock: true }

/** The names of the options of a guard. */
export const tableOptionNames: OptionNames<DynamodbTableOptions> = { table: true, partitionKey: true }

/** Throws a `LeaseConfigurationError` unless this is a client of the AWS SDK, version 3. */
export function checkClient(client: unknown): asserts client is DynamodbClient {
  const { send, config } = Object(client) as Partial<Record<keyof DynamodbClient, unknown>>
  if (typeof send === 'function' && typeof config === 'object') return
  throw misconfigured(
    'the first argument must be a DynamoDBClient of @aws-sdk/client-dynamodb (version 3), or a DynamoDBDocumentClient over ' +
      'one. A client of DAX or of version 2 does not fit',
  )
}

/** The table of these options. Throws a `LeaseConfigurationError` if they are invalid. */
export function tableIn({ table = 'leases', partitionKey = 'name' }: DynamodbTableOptions): Required<{
  readonly table: string
  readonly partitionKey: string
}> {
  if (typeof table !== 'string' || table === '') throw misconfigured("table must be a name, such as 'leases'")
  if (typeof partitionKey !== 'string' || partitionKey === '') {
    throw misconfigured("partitionKey must be the name of the table's partition key, such as 'name'")
  }
  if (itemAttributes.has(partitionKey)) {
    throw misconfigured(`partitionKey cannot be '${partitionKey}': the items have another attribute of that name`)
  }
  return { table, partitionKey }
}
