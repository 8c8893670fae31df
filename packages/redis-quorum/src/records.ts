import { isLocked, type LeaseRecord, type Metadata } from '@leasehold/core'
import { TOKEN_KEY } from '@leasehold/redis/internal'

/**
 * A key in the metadata on a member. Its value is the token of the grant that wrote the metadata, and how often that grant
 * had updated it. A member may miss an update, and later grants keep what they find. Absent if the grant in the record
 * wrote the metadata with its claim.
 */
export const REVISION_KEY = '\0revision'

export function withRevision(metadata: Metadata, fencingToken: bigint, count: number): Metadata {
  return { ...metadata, [REVISION_KEY]: `${fencingToken} ${count}` }
}

/**
 * The latest metadata that any member has: the latest revision of the latest grant that wrote metadata. A grant that only
 * keeps metadata is not its writer. The keys of the quorum are removed.
 */
export function latestMetadata(candidates: readonly (Metadata | undefined)[]): Metadata | undefined {
  const latest = latestOf(candidates)
  if (latest === undefined) return undefined
  const { [TOKEN_KEY]: _token, [REVISION_KEY]: _revision, ...metadata } = latest
  return metadata
}

/** Like `latestMetadata`, but with the keys of the quorum. */
export function latestOf(candidates: readonly (Metadata | undefined)[]): Metadata | undefined {
  const known = candidates.filter((metadata) => metadata !== undefined)
  return known.reduce<Metadata | undefined>((one, other) => (one && !isLater(other, one) ? one : other), undefined)
}

/** The metadata in the record of a member, as a candidate. */
export function candidateIn({ metadata, fencingToken }: LeaseRecord): Metadata {
  return { ...metadata, [TOKEN_KEY]: String(fencingToken) }
}

function isLater(one: Metadata, other: Metadata): boolean {
  const [order, otherOrder] = [orderOf(one), orderOf(other)]
  const index = order.findIndex((part, place) => part !== otherOrder[place])
  return index >= 0 && (order[index] ?? 0n) > (otherOrder[index] ?? 0n)
}

/** Orders metadata by the write; then by the holder, because a break adds its reason without a write. */
function orderOf({ [TOKEN_KEY]: holder = '0', [REVISION_KEY]: revision = `${holder} 0` }: Metadata): bigint[] {
  return `${revision} ${holder}`.split(' ').map(BigInt)
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

/** The record with the largest token, with the latest metadata. */
export function mostRecent(records: readonly LeaseRecord[]): LeaseRecord | undefined {
  return merged(records.toSorted(byToken), 1)
}

function byToken(one: LeaseRecord, other: LeaseRecord): number {
  return one.fencingToken === other.fencingToken ? 0 : one.fencingToken > other.fencingToken ? -1 : 1
}

/** Makes one record. The lock ends by itself when less than a majority has it. */
function merged(records: readonly LeaseRecord[], majority: number): LeaseRecord | undefined {
  const [first] = records
  if (first === undefined) return undefined
  const { previous: _, ...record } = first
  const metadata = latestMetadata(records.map(candidateIn)) ?? {}
  const previous = latestMetadata(records.map((each) => each.previous))
  const remaining = records.map((each) => each.remaining ?? 0).toSorted((one, other) => other - one)[majority - 1]
  return {
    ...record,
    metadata,
    ...(previous === undefined ? {} : { previous }),
    ...(isLocked(first) && remaining !== undefined ? { remaining } : {}),
  }
}

/** Returns the records that are alike on a majority of the members. */
function ofMajority(
  records: readonly LeaseRecord[],
  majority: number,
  keyOf: (record: LeaseRecord) => string,
): readonly LeaseRecord[] {
  const keys = records.map(keyOf)
  return records.filter((_, index) => keys.filter((key) => key === keys[index]).length >= majority)
}
