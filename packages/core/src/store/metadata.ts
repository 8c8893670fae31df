import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { shownValue } from '../errors/shown-value.js'

/** A small map of texts in a record. */
export type Metadata = Readonly<Record<string, string>>

/** The size of the metadata of a record, in bytes, unless a store says otherwise. */
const USUAL_ROOM = 4_096

/** How many bytes of metadata a record of a store has room for. */
export function roomOf({ metadata = USUAL_ROOM }: { readonly metadata?: number }): number {
  return metadata
}

/** Throws a `LeaseConfigurationError` unless the value is `undefined` or valid as metadata. For stores. */
export function checkMetadata(metadata: unknown, details: LeaseErrorDetails = {}, room = USUAL_ROOM): void {
  const fault = metadata === undefined ? undefined : faultOfMetadata(metadata, room)
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
}

/**
 * The metadata that a new grant keeps if its request has none: as the last holder left it, without the `breakReason` that
 * a break added. For stores.
 */
export function withoutBreakReason(left: Metadata): Metadata {
  if (left.breakReason === undefined) return left
  const { breakReason: _, ...kept } = left
  return Object.freeze(kept)
}

/** The reason why a value is not valid as metadata; `undefined` if it is valid. */
export function faultOfMetadata(metadata: unknown, room = Number.POSITIVE_INFINITY): string | undefined {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    return `metadata must be an object of texts, not ${shownValue(metadata)}`
  }
  let size = 0
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      return `metadata.${key} must be a text, not ${shownValue(value)}: turn it into a string first`
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size <= room) return undefined
  if (room === 0) return 'metadata was given, but the records of this store have no room for it: leave it out'
  return `metadata has ${size} bytes, but a record of this store has room for ${room}: keep large values elsewhere`
}
