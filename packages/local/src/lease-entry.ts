import type { Metadata } from '@leasehold/core'
import { type Place, type StoredLease, WaitQueue } from '@leasehold/core/store'
import type { RegisterKind } from './register-table.js'
import type { WaiterProcess } from './waiter-process.js'

/** A place in the queue of a name, and the thread that waits. */
export interface LocalPlace extends Place {
  readonly process: WaiterProcess
}

/** The record of a name, and its queue. Instants are milliseconds since boot. */
export interface LeaseEntry {
  readonly lease: StoredLease
  /** There may be watches without a place in the queue: the process that frees the name notifies them. */
  readonly watched: boolean
  /** Made for the first place. */
  readonly queue: WaitQueue<LocalPlace> | undefined
}

/** A record as a line of the log has it: JSON, so without `Infinity` and `bigint`. */
interface RecordLine extends Omit<StoredLease, 'fencingToken' | 'ttl' | 'lockedUntil' | 'previous' | 'renewals'> {
  readonly fencingToken: string
  /** `null`: does not expire. */
  readonly ttl: number | null
  /** `null`: never, or the record is not locked. */
  readonly endsAt: number | null
  /** Absent for the first holder, and in lines of earlier versions. */
  readonly previous?: Metadata | undefined
  /**
   * The count with the `endsAt` of the same line. Earlier versions copy it when they renew: beside another `endsAt` it says
   * nothing. Absent for a lease that does not expire, whose `endsAt` a renewal does not change.
   */
  readonly renewals?: readonly [count: number, endsAt: number | null] | undefined
  readonly watched: boolean
}

/** A change of an entry: the record, if it is another; the places that end; then the places that are taken or kept. */
export interface LeaseChange {
  readonly record?: RecordLine | undefined
  readonly leave?: readonly string[] | undefined
  readonly keep?: readonly LocalPlace[] | undefined
}

export const leaseEntries: RegisterKind<LeaseEntry, LeaseChange> = {
  apply: (entry, { record, leave = [], keep = [] }) => {
    const lease = record === undefined ? entry?.lease : fromLine(record)
    if (lease === undefined) throw new TypeError('the first change of a name must have a record')
    const queue = entry?.queue ?? (keep.length > 0 ? new WaitQueue<LocalPlace>() : undefined)
    for (const grantId of leave) queue?.remove(grantId)
    for (const place of keep) queue?.keep(place)
    return { lease, watched: record?.watched ?? entry?.watched ?? false, queue }
  },
  whole: ({ lease, watched, queue }) => ({ record: toLine(lease, watched), keep: [...(queue?.places() ?? [])] }),
}

export function toLine(lease: StoredLease, watched: boolean): RecordLine {
  const { fencingToken, ttl, lockedUntil, renewals, ...kept } = lease
  const endsAt = Number.isFinite(lockedUntil) ? lockedUntil : null
  return {
    ...kept,
    fencingToken: String(fencingToken),
    ttl: Number.isFinite(ttl) ? ttl : null,
    endsAt,
    renewals: renewals === undefined || !Number.isFinite(ttl) ? undefined : [renewals, endsAt],
    watched,
  }
}

function fromLine(line: RecordLine): StoredLease {
  const { fencingToken, ttl, endsAt, metadata, previous, renewals, watched: _, ...kept } = line
  const isHeld = kept.state === 'leased' || kept.state === 'breaking'
  return {
    ...kept,
    fencingToken: BigInt(fencingToken),
    ttl: ttl ?? Number.POSITIVE_INFINITY,
    lockedUntil: endsAt ?? (isHeld ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
    // Records share it with callers.
    metadata: Object.freeze(metadata),
    previous: previous && Object.freeze(previous),
    renewals: renewals?.[1] === endsAt ? renewals[0] : undefined,
  }
}
