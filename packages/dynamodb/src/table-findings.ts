import type * as Sdk from '@aws-sdk/client-dynamodb'
import { LeaseConfigurationError, LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { clockFinding, wallTime } from '@leasehold/core/store-kit'
import { isNamed } from './failure-of.js'
import { itemAttributes } from './lease-item.js'
import type { LeaseTable } from './lease-table.js'
import { keyAdvice } from './table-advice.js'

/** What the service says about the table. An identity that may not ask gets findings whose result is `unknown`. */
export async function tableFindings(
  table: LeaseTable,
  isOneRegion: boolean,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  const asked = wallTime()
  const described = await ifAnswered(
    table.send<Sdk.DescribeTableCommandOutput>(
      { name: 'description of the table' },
      call,
      ({ DescribeTableCommand }) => new DescribeTableCommand({ TableName: table.name.table }),
    ),
  )
  const answered = wallTime()
  const timeToLive = await ifAnswered(
    table.send<Sdk.DescribeTimeToLiveCommandOutput>(
      { name: 'description of the TTL' },
      call,
      ({ DescribeTimeToLiveCommand }) => new DescribeTimeToLiveCommand({ TableName: table.name.table }),
    ),
  )
  const ofTable =
    described === undefined
      ? ['key', 'regions'].map((check) => unanswered(check, 'DescribeTable'))
      : [
          keyFinding(table, described.output.Table),
          regionsFinding(described.output.Table, isOneRegion),
          clockFinding(described.date, asked, answered),
        ]
  return [
    ...ofTable,
    timeToLive === undefined ? unanswered('TTL', 'DescribeTimeToLive') : ttlFinding(timeToLive.output),
  ]
}

/** `undefined` if the identity may not ask, or the service has no such request. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    const isUnknown = error instanceof LeaseConfigurationError && isNamed(error.cause, 'UnknownOperationException')
    if (isUnknown || error instanceof LeaseUnauthorisedError) return undefined
    throw error
  }
}

function unanswered(check: string, action: string): StoreFinding {
  return { check, result: 'unknown', found: `the service does not answer dynamodb:${action} of this identity` }
}

function keyFinding({ name }: LeaseTable, found: Sdk.TableDescription | undefined): StoreFinding {
  const check = 'key'
  const { KeySchema = [], AttributeDefinitions = [] } = found ?? {}
  const [key, sortKey] = KeySchema
  const type = AttributeDefinitions.find(({ AttributeName }) => AttributeName === key?.AttributeName)?.AttributeType
  if (sortKey === undefined && key?.AttributeName === name.partitionKey && type === 'S') return { check, result: 'ok' }
  const keys = KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} (${KeyType})`).join(', ')
  return {
    check,
    result: 'failed',
    found: `the key of the table is ${keys}, and its first attribute has the type ${type}`,
    setting: 'partitionKey',
    change: keyAdvice(name),
  }
}

function regionsFinding(found: Sdk.TableDescription | undefined, isOneRegion: boolean): StoreFinding {
  const check = 'regions'
  const { Replicas = [], MultiRegionConsistency } = found ?? {}
  if (Replicas.length === 0) return { check, result: 'ok' }
  const regions = Replicas.map(({ RegionName }) => RegionName).join(', ')
  if (MultiRegionConsistency === 'STRONG') return { check, result: 'ok', found: `strong consistency with ${regions}` }
  return {
    check,
    result: isOneRegion ? 'warning' : 'failed',
    found: `it is a global table with eventual consistency (${regions}): of the writes in two regions, the last one wins, so that two owners could hold a lease`,
    setting: 'globalTable',
    change:
      'use a table in one region, or one with multi-region strong consistency; or, if all processes that share leases use ' +
      "the same region, give globalTable: 'one-region'",
  }
}

function ttlFinding({ TimeToLiveDescription }: Sdk.DescribeTimeToLiveCommandOutput): StoreFinding {
  const check = 'TTL'
  const { AttributeName = '', TimeToLiveStatus } = TimeToLiveDescription ?? {}
  const isOn = TimeToLiveStatus === 'ENABLED' || TimeToLiveStatus === 'ENABLING'
  if (!isOn || !itemAttributes.has(AttributeName)) return { check, result: 'ok' }
  return {
    check,
    result: 'failed',
    found: `the table deletes items by their attribute '${AttributeName}', which leases have`,
    setting: 'TTL',
    change: 'turn the TTL of the table off, or set it to another attribute: items of leases have no time to live',
  }
}
