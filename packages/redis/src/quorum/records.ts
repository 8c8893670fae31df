import type { LeaseRecord, Metadata } from '@leasehold/core'
import { TOKEN_KEY } from '../answers.js'

/**
 * In the metadata on a member: the token of the grant that wrote them, and how often it has done so. A member may miss an
 * update.
 */
const REVISION_KEY = '\0revision'

export function withRevision(metadata: Metadata, fencingToken: bigint, count: number): Metadata {
  return { ...metadata, [REVISION_KEY]: `${fencingToken} ${count}` }
}

/** The latest metadata that any member has: of the latest holder, and of that holder the latest revision. */
export function latestMetadata(candidates: readonly (Metadata | undefined)[]): Metadata | undefined {
  const known = candidates.filter((metadata) => metadata !== undefined)
  if (known.length === 0) return undefined
  const latest = known.reduce((one, other) => (isLater(other, one) ? other : one))
  const { [TOKEN_KEY]: _token, [REVISION_KEY]: _revision, ...metadata } = latest
  return metadata
}

function isLater(one: Metadata, other: Metadata): boolean {
  const [order, otherOrder] = [orderOf(one), orderOf(other)]
  const index = order.findIndex((part, place) => part !== otherOrder[place])
  return index >= 0 && (order[index] ?? 0n) > (otherOrder[index] ?? 0n)
}

function orderOf({ [TOKEN_KEY]: holder = '0', [REVISION_KEY]: revision = '0 0' }: Metadata): bigint[] {
  return `${holder} ${revision}`.split(' ').map(BigInt)
}

export function isLocked(record: LeaseRecord | undefined): record is LeaseRecord {
  return record?.state === 'leased' || record?.state === 'breaking'
}

/** The record on which a majority agrees, apart from the metadata and the time left. */
export function agreedRecord(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const keyOf = ({ grantId, fencingToken, state }: LeaseRecord): string => `${state} ${fencingToken} ${grantId}`
  return merged(ofMajority(records, majority, keyOf), majority)
}

/** The grant that a majority has. Its token is the agreed one; if that is unknown, the largest one. */
export function majorityHolder(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const held = ofMajority(records, majority, ({ grantId }) => grantId)
  return agreedRecord(held, majority) ?? merged(held.toSorted(byToken), majority)
}

export function mostRecent(records: readonly LeaseRecord[]): LeaseRecord | undefined {
  return merged(records.toSorted(byToken).slice(0, 1), 1)
}

function byToken(one: LeaseRecord, other: LeaseRecord): number {
  return one.fencingToken === other.fencingToken ? 0 : one.fencingToken > other.fencingToken ? -1 : 1
}

/** The lock ends by itself when less than a majority has it. */
function merged(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const [first] = records
  if (first === undefined) return undefined
  const { previous: _, ...record } = first
  const metadata = latestMetadata(records.map((each) => each.metadata)) ?? {}
  const previous = latestMetadata(records.map((each) => each.previous))
  const remaining = records.map((each) => each.remaining ?? 0).toSorted((one, other) => other - one)[majority - 1]
  return {
    ...record,
    metadata,
    ...(previous === undefined ? {} : { previous }),
    ...(isLocked(first) && remaining !== undefined ? { remaining } : {}),
  }
}

/** The records that a majority has alike, if there are such. */
function ofMajority(
  records: readonly LeaseRecord[],
  majority: number,
  keyOf: (record: LeaseRecord) => string,
): readonly LeaseRecord[] {
  const keys = records.map(keyOf)
  return records.filter((_, index) => keys.filter((key) => key === keys[index]).length >= majority)
}
