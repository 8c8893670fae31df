import type { RegisterKind } from './register-table.js'
import type { StoredRecord } from './stored-record.js'
import type { WaiterProcess } from './waiter-process.js'

/** A place in the queue of a name. */
export interface Place {
  readonly grantId: string
  readonly process: WaiterProcess
  /** Until when the request must be repeated, in milliseconds since boot. */
  readonly keptUntil: number
}

/** The record of a name, and its queue. */
export interface LeaseEntry {
  readonly record: StoredRecord
  /** The places in its queue by grant id, in the order in which they were taken. */
  readonly places: Map<string, Place>
}

/** A change of an entry: the record, if it is another; the places that are given up; those that are taken or kept. */
export interface LeaseChange {
  readonly record?: StoredRecord | undefined
  readonly leave?: readonly string[] | undefined
  readonly keep?: readonly Place[] | undefined
}

export const leaseEntries: RegisterKind<LeaseEntry, LeaseChange> = {
  apply: (entry, { record = entry?.record, leave = [], keep = [] }) => {
    if (record === undefined) throw new TypeError('the first change of a name brings its record')
    const places = entry?.places ?? new Map<string, Place>()
    for (const grantId of leave) places.delete(grantId)
    // A map keeps the order of a key that it has already.
    for (const place of keep) places.set(place.grantId, place)
    return { record, places }
  },
  whole: ({ record, places }) => ({ record, keep: [...places.values()] }),
}
