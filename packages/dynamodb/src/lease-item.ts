import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { LeaseNameError } from '@leasehold/core'
import type { CasEntry, CasRecord } from '@leasehold/core/store'
import { recordIn, recordText } from '@leasehold/core/store-kit'

/** An item as the service keeps it. */
export type Item = Record<string, AttributeValue>

/** The attributes of the item of a lease, beside its key. */
export const ITEM = {
  /** Another one with every write: each write is conditional on it. */
  version: 'version',
  /** The record, as JSON. */
  record: 'record',
  /** The owner and the token once more, for the conditions of users. There is no owner while the name is free. */
  owner: 'owner',
  fencingToken: 'fencingToken',
  /** When a challenger first saw this version, in milliseconds by the clock of the service. Each write removes it. */
  doubtedSince: 'doubtedSince',
} as const

export const itemAttributes: ReadonlySet<string> = new Set(Object.values(ITEM))

/** The beginning of the keys in which guards keep tokens. No lease can have such a name. */
export const FENCES = 'leasehold-fence/'

/** The key of a lease. Throws a `LeaseNameError` if it is that of a fence. */
export function leaseKey(partitionKey: string, name: string): Item {
  if (!name.startsWith(FENCES)) return { [partitionKey]: { S: name } }
  const message = `lease names that begin with '${FENCES}' are reserved for the fences of guards: choose another name`
  throw new LeaseNameError(message, { leaseName: name, store: 'dynamodb' })
}

export function toItem(key: Item, record: CasRecord, version: string): Item {
  return {
    ...key,
    [ITEM.version]: { S: version },
    [ITEM.record]: { S: recordText(record) },
    [ITEM.fencingToken]: { N: String(record.fencingToken) },
    ...(record.owner === '' ? {} : { [ITEM.owner]: { S: record.owner } }),
  }
}

/** The entry in an item. If another program wrote the item, the record is not valid, and `casStore` says so. */
export function entryIn(item: Item): CasEntry<string> {
  const { [ITEM.version]: version, [ITEM.record]: record, [ITEM.doubtedSince]: doubtedSince } = item
  return {
    version: version?.S ?? '',
    record: recordIn(record?.S ?? ''),
    ...(doubtedSince?.N === undefined ? {} : { doubtedSince: Number(doubtedSince.N) }),
  }
}
