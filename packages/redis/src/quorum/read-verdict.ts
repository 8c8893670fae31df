import type { LeaseRecord } from '@leasehold/core'
import { agreedRecord, isLocked, mostRecent } from './agreement.js'
import type { Tally } from './tally.js'
import { type Question, undecided } from './undecided.js'

/** The record that the votes come to, in an object, for there may be none. */
export interface ReadVerdict {
  readonly record: LeaseRecord | undefined
}

/**
 * A grant that a majority has under the same token is the one in force. A name that a majority has free is free. Anything
 * between may be a grant on its way, or on its way back: locked, and nobody knows by whom.
 */
export function readVerdict(
  question: Question,
  tally: Tally<LeaseRecord | undefined>,
  isAbandoned: (grantId: string) => boolean,
): ReadVerdict | undefined {
  const { values, majority } = tally
  const waits = !tally.isFinal && !tally.isLate
  const locked = values.filter(isLocked)
  const holder = agreedRecord(locked, majority)
  if (holder !== undefined) return { record: isAbandoned(holder.grantId) ? anonymous(question, locked) : holder }
  const free = values.filter((record) => !isLocked(record))
  if (free.length >= majority) {
    const records = free.filter((record) => record !== undefined)
    const agreed = agreedRecord(records, majority)
    if (agreed !== undefined || records.length === 0) return { record: agreed }
    // The others may have what was agreed on.
    return waits ? undefined : { record: mostRecent(records) }
  }
  if (waits) return undefined
  if (values.length < majority) throw undecided(question, tally)
  return { record: anonymous(question, locked) }
}

function anonymous({ leaseName }: Question, locked: readonly LeaseRecord[]): LeaseRecord {
  const ttl = Math.max(...locked.map((record) => record.ttl))
  const fencingToken = mostRecent(locked)?.fencingToken ?? 0n
  return { name: leaseName, owner: '', grantId: '', fencingToken, ttl, state: 'leased', metadata: {} }
}
