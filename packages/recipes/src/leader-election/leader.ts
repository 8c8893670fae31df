import { isLocked, type LeaseRecord, type LeaseStore, type Metadata } from '@leasehold/core'
import { checkRecipe, withoutRecipe } from '../record-kind.js'

/** The leader, as the record of the store shows it. */
export interface Leader {
  readonly owner: string
  /** The number of the term: the fencing token of its lease. Larger for every later term. */
  readonly term: bigint
  /** As the leader gave it, such as its address. */
  readonly metadata: Metadata
}

/**
 * The leader in a record; `undefined` if the name is free, or the store does not know the holder. Throws a
 * `LeaseConfigurationError` for the record of another recipe.
 */
export function leaderOf(record: LeaseRecord | undefined, name: string, { kind }: LeaseStore): Leader | undefined {
  if (record === undefined) return undefined
  const { owner, fencingToken, metadata } = record
  checkRecipe('leader-election', metadata, { leaseName: name, ...(kind === undefined ? {} : { store: kind }) })
  return isLocked(record) && owner !== '' ? { owner, term: fencingToken, metadata: withoutRecipe(metadata) } : undefined
}

export function isSameLeader(one: Leader | undefined, other: Leader | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const [left, right] = [Object.entries(one.metadata), Object.entries(other.metadata)]
  const isSameMetadata = left.length === right.length && left.every(([key, value]) => other.metadata[key] === value)
  return one.term === other.term && one.owner === other.owner && isSameMetadata
}
