import type { LeaseRecord } from '@leasehold/core'

export function isLocked(record: LeaseRecord | undefined): record is LeaseRecord {
  return record?.state === 'leased' || record?.state === 'breaking'
}

/** The record that so many servers have alike, but for what is left of the ttl: that is told of the majority. */
export function agreedRecord(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const alike = largestGroup(records, ({ grantId, fencingToken, state }) => `${state} ${fencingToken} ${grantId}`)
  return alike.length < majority ? undefined : merged(alike, majority)
}

/** Who holds the name, where one holds a majority. The token is the agreed one or, if that is not known, the largest. */
export function majorityHolder(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const held = largestGroup(records, ({ grantId }) => grantId)
  if (held.length < majority) return undefined
  return agreedRecord(held, majority) ?? merged(held.toSorted(byToken), majority)
}

export function mostRecent(records: readonly LeaseRecord[]): LeaseRecord | undefined {
  return records.toSorted(byToken)[0]
}

/** The largest first. */
function byToken(one: LeaseRecord, other: LeaseRecord): number {
  return one.fencingToken === other.fencingToken ? 0 : one.fencingToken > other.fencingToken ? -1 : 1
}

/** The lock ends by itself when less than a majority is left of it. */
function merged(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const [first] = records
  if (first === undefined || !isLocked(first)) return first
  const remaining = records.map((record) => record.remaining ?? 0).toSorted((one, other) => other - one)[majority - 1]
  return remaining === undefined ? first : { ...first, remaining }
}

function largestGroup(records: readonly LeaseRecord[], keyOf: (record: LeaseRecord) => string): readonly LeaseRecord[] {
  const groups = new Map<string, LeaseRecord[]>()
  let largest: readonly LeaseRecord[] = []
  for (const record of records) {
    const key = keyOf(record)
    const group = groups.get(key) ?? []
    group.push(record)
    groups.set(key, group)
    if (group.length > largest.length) largest = group
  }
  return largest
}
