import type { Metadata } from '../store/metadata.js'

/** The metadata of a record, with the reason of a break, which has a column of its own. */
export function withBreakReason(metadata: Metadata, reason: string | null): Metadata {
  return reason === null ? metadata : { ...metadata, breakReason: reason }
}
