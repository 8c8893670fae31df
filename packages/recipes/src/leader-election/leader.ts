import { isLocked, type LeaseRecord, type LeaseStore, type Metadata } from '@leasehold/core'
import { checkRecipe, withoutRecipe } from '../record-kind.js'

/** The leader, as the record of the store shows it. */
export interface Leader {
  readonly owner: string
  /** The number of the term: the fencing token of its lease. Larger for every later term. */
  readonly term: bigint
  /** As the leader gave it, such as its address. Empty for a moment after a transfer. */
  readonly metadata: Metadata
}

/** The key of the metadata that says whose they are: after a transfer, the record has those of the last leader for a moment. */
const OF = 'election.leader'

/** The key with which a leader says whom it chose: that one does not pass the leadership on to a better candidate. */
const CHOSEN = 'election.successor'

/** The metadata of a leader that may transfer its leadership. */
export function ofLeader(owner: string, metadata: Metadata): Metadata {
  return { ...metadata, [OF]: owner }
}

/** The metadata of a leader that has chosen its successor. */
export function withSuccessor(owner: string, metadata: Metadata, successor: string): Metadata {
  return { ...ofLeader(owner, metadata), [CHOSEN]: successor }
}

/** Whether the last leader, with these metadata, chose this successor. */
export function hasChosen(previous: Metadata | undefined, owner: string): boolean {
  return previous?.[CHOSEN] === owner
}

/** The metadata as the leader gave them; empty while those of the new leader are not written yet. */
function shownMetadata(owner: string, metadata: Metadata): Metadata {
  const { [OF]: of, [CHOSEN]: _, ...shown } = withoutRecipe(metadata)
  return of === undefined || of === owner ? shown : {}
}

/**
 * The leader in a record; `undefined` if the name is free, or the store does not know the holder. Throws a
 * `LeaseConfigurationError` for the record of another recipe.
 */
export function leaderOf(record: LeaseRecord | undefined, name: string, { kind }: LeaseStore): Leader | undefined {
  if (record === undefined) return undefined
  const { owner, fencingToken, metadata } = record
  checkRecipe('leader-election', metadata, { leaseName: name, ...(kind === undefined ? {} : { store: kind }) })
  return isLocked(record) && owner !== ''
    ? { owner, term: fencingToken, metadata: shownMetadata(owner, metadata) }
    : undefined
}

export function isSameLeader(one: Leader | undefined, other: Leader | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const [left, right] = [Object.entries(one.metadata), Object.entries(other.metadata)]
  const isSameMetadata = left.length === right.length && left.every(([key, value]) => other.metadata[key] === value)
  return one.term === other.term && one.owner === other.owner && isSameMetadata
}
