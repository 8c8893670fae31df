import { isLocked, type LeaseRecord, type LeaseStore, LeaseUnavailableError, type Metadata } from '@leasehold/core'
import { isLeaseState } from '@leasehold/core/internal'
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
 * `LeaseUnavailableError` if the client of the store returned anything but a record, and a `LeaseConfigurationError` for the
 * record of another recipe.
 */
export function leaderOf(record: LeaseRecord | undefined, name: string, { kind }: LeaseStore): Leader | undefined {
  if (record === undefined) return undefined
  const { state, owner, fencingToken, metadata } = Object(record) as Partial<LeaseRecord>
  const isValid = typeof owner === 'string' && typeof fencingToken === 'bigint' && isMetadata(metadata)
  if (!isValid || !isLeaseState(state)) {
    throw new LeaseUnavailableError(`reading the leader of '${name}': the store answered with something else`, {
      leaseName: name,
      ...(kind === undefined ? {} : { store: kind }),
    })
  }
  checkRecipe('leader-election', metadata, { leaseName: name, ...(kind === undefined ? {} : { store: kind }) })
  return isLocked(record) && owner !== '' ? { owner, term: fencingToken, metadata: withoutRecipe(metadata) } : undefined
}

export function isSameLeader(one: Leader | undefined, other: Leader | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const [left, right] = [Object.entries(one.metadata), Object.entries(other.metadata)]
  const isSameMetadata = left.length === right.length && left.every(([key, value]) => other.metadata[key] === value)
  return one.term === other.term && one.owner === other.owner && isSameMetadata
}

function isMetadata(value: unknown): value is Metadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((text) => typeof text === 'string')
}
