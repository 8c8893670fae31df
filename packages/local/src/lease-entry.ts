import { isLocked, type Metadata } from '@leasehold/core'
import { type Place, type StoredLease, WaitQueue } from '@leasehold/core/life-cycle'
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
interface RecordLine extends Omit<StoredLease, 'fencingToken' | 'ttl' | 'lockedUntil' | 'metadata'> {
  readonly fencingToken: string
  /** `null`: does not expire. */
  readonly ttl: number | null
  /** `null`: never, or the record is not locked. */
  readonly endsAt: number | null
  /** Absent if it is empty. */
  readonly metadata?: Metadata | undefined
  readonly watched: boolean
}

/** A change of an entry: its new record, if that changes; the places that end; the places that are taken or kept. */
export interface LeaseChange {
  readonly record?: RecordLine | undefined
  /** The new end of the lock; absent unless the change is a heartbeat, which changes nothing else. */
  readonly renewedUntil?: number | undefined
  readonly leave?: readonly string[] | undefined
  readonly keep?: readonly LocalPlace[] | undefined
}

const NO_METADATA: Metadata = Object.freeze({})

export const leaseEntries: RegisterKind<LeaseEntry, LeaseChange> = {
  apply: (entry, { record, renewedUntil, leave = [], keep = [] }) => {
    const lease = record === undefined ? entry?.lease : fromLine(record)
    if (lease === undefined) throw new TypeError('the first change of a name must have a record')
    const queue = entry?.queue ?? (keep.length > 0 ? new WaitQueue<LocalPlace>() : undefined)
    for (const grantId of leave) queue?.remove(grantId)
    for (const place of keep) queue?.keep(place)
    const renewed = renewedUntil === undefined ? lease : renewedLease(lease, renewedUntil)
    return { lease: renewed, watched: record?.watched ?? entry?.watched ?? false, queue }
  },
  whole: ({ lease, watched, queue }) => ({ record: toLine(lease, watched), keep: [...(queue?.places() ?? [])] }),
}

// Field by field, as every process does it for each record of the folder: rest and spread of objects are much slower.
export function toLine(lease: StoredLease, watched: boolean): RecordLine {
  const { owner, grantId, ttl, state, lockedUntil, metadata, previous, grantedAt, renewals } = lease
  return {
    owner,
    grantId,
    fencingToken: String(lease.fencingToken),
    ttl: Number.isFinite(ttl) ? ttl : null,
    state,
    endsAt: Number.isFinite(lockedUntil) ? lockedUntil : null,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    previous,
    grantedAt,
    renewals,
    watched,
  }
}

function fromLine(line: RecordLine): StoredLease {
  const { owner, grantId, ttl, state, endsAt, metadata, previous, grantedAt, renewals } = line
  return {
    owner,
    grantId,
    fencingToken: BigInt(line.fencingToken),
    ttl: ttl ?? Number.POSITIVE_INFINITY,
    state,
    lockedUntil: endsAt ?? (isLocked({ state }) ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
    // Records share the metadata with callers.
    metadata: metadata === undefined ? NO_METADATA : Object.freeze(metadata),
    previous: previous && Object.freeze(previous),
    grantedAt,
    renewals,
  }
}

function renewedLease(lease: StoredLease, lockedUntil: number): StoredLease {
  return { ...lease, lockedUntil, renewals: lease.renewals === undefined ? undefined : lease.renewals + 1 }
}
