import { grantFromJSON, recordFromJSON, toPlainJSON } from './record-json.js'

/** A small map of texts in a record. */
export type Metadata = Readonly<Record<string, string>>

/** One successful acquisition, as the holder knows it. */
export interface Grant {
  /** The lease name. */
  readonly name: string
  readonly owner: string
  /** The GUID that the client proposed for this acquisition; every change of the record is conditional on it. */
  readonly grantId: string
  /** Larger for every later grant of the same name; the guarded resource compares it. */
  readonly fencingToken: bigint
  /** For how long the grant lasts from each confirmed request on, in milliseconds; `Infinity` where it never expires. */
  readonly ttl: number
}

/**
 * The life cycle of a record, as Azure's Lease Blob has it:
 * `leased` and `breaking` are locked, the others are free to acquire.
 */
export type LeaseState = 'leased' | 'expired' | 'breaking' | 'broken' | 'available'

/**
 * What a store keeps for a name: the last grant and where it stands in its life cycle. `owner` and `grantId` are empty
 * if the name is locked and the store does not know the holder.
 */
export interface LeaseRecord extends Omit<Grant, 'ttl'> {
  /** As {@link Grant.ttl}; absent if the name is locked and the store does not know the ttl of the holder. */
  readonly ttl?: number
  readonly state: LeaseState
  /** Of the holder; after the end of the grant, as the last holder left it. */
  readonly metadata: Metadata
  /** While the name is locked: the metadata that the holder found, where the store keeps it. */
  readonly previous?: Metadata
  /**
   * Milliseconds until the lock can end by itself, where the store knows: of a `leased` record the time left of the
   * ttl, of a `breaking` one that of the break period. `Infinity` for a lease that does not expire.
   */
  readonly remaining?: number
}

/** Grants as JSON: tokens are texts of digits, and a ttl without an end is `infinite`. */
export const Grant = {
  /** The value that `JSON.stringify` writes; for grants of a store, which have no `toJSON` of their own. */
  toJSON: (grant: Grant): Record<string, unknown> => toPlainJSON(grant),
  /** The grant again, from the text or from its parsed value. Throws a `LeaseConfigurationError` if it is not valid. */
  fromJSON: (json: unknown): Grant => grantFromJSON(json),
}

/** Records as JSON: tokens are texts of digits, and a duration without an end is `infinite`. */
export const LeaseRecord = {
  /** The value that `JSON.stringify` writes; for records of a store, which have no `toJSON` of their own. */
  toJSON: (record: LeaseRecord): Record<string, unknown> => toPlainJSON(record),
  /** The record again, from the text or from its parsed value. Throws a `LeaseConfigurationError` if it is not valid. */
  fromJSON: (json: unknown): LeaseRecord => recordFromJSON(json),
}
