import { isLocked, type LeaseRecord } from '../store/lease-record.js'
import { metadataOfBoth, unmarked } from './copied-metadata.js'

/**
 * One record for the records of a name in both stores. It has a grant id only if both have the same grant, under the same
 * token. Otherwise the grant id is empty, as for a lock without a recorded holder: the grant may be half made by this very
 * process, so that its reader must not take it for a grant in force, and has to release what there is of it.
 */
export function recordOfBoth(from: LeaseRecord | undefined, to: LeaseRecord | undefined): LeaseRecord | undefined {
  const shown = shownOf(from, to)
  if (shown === undefined) return undefined
  const plain = { ...plainRecord(shown), metadata: metadataOfBoth(from?.metadata, to?.metadata) }
  if (!isLocked(shown)) return plain
  if (!isLocked(from) || !isLocked(to) || !isSame(from, to)) return { ...plain, grantId: '' }
  const state = from.state === 'leased' ? to.state : from.state
  // Raises of the token count as renewals, and each store has its own number of them. Locked until it is free in both.
  const { remaining: _, renewals: __, ...locked } = { ...plain, state }
  if (from.remaining === undefined || to.remaining === undefined) return locked
  return { ...locked, remaining: Math.max(from.remaining, to.remaining) }
}

/** A record of one store, with its metadata as its user knows it. */
export function plainRecord(record: LeaseRecord): LeaseRecord {
  const { metadata, previous } = record
  const plain = { ...record, metadata: unmarked(metadata) }
  return previous === undefined ? plain : { ...plain, previous: unmarked(previous) }
}

/** The record that locks the name, or else the later one. */
function shownOf(from: LeaseRecord | undefined, to: LeaseRecord | undefined): LeaseRecord | undefined {
  if (from === undefined || to === undefined) return from ?? to
  if (isLocked(from) !== isLocked(to)) return isLocked(from) ? from : to
  return to.fencingToken > from.fencingToken ? to : from
}

function isSame(from: LeaseRecord, to: LeaseRecord): boolean {
  return from.grantId === to.grantId && from.fencingToken === to.fencingToken
}
