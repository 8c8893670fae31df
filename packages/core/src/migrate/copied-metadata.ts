import { createHash } from 'node:crypto'
import type { Metadata } from '../store/lease-record.js'
import { withoutBreakReason } from '../store/metadata.js'

/**
 * The key in the metadata of records in `to` that says: this is a copy of the metadata in `from`. Its value is a digest of the
 * rest. A process that uses `to` alone keeps the key, or drops it, but does not compute the digest again: so a digest that
 * does not fit means that such a process has changed the metadata since.
 */
const MARK = 'leasehold-copy'

/** The size of the mark, in bytes: its key, and 16 bytes in base64url. */
export const MARK_SIZE = MARK.length + 22

/** The metadata as a record in `to` has it. Without metadata, there is nothing to mark. */
export function marked(metadata: Metadata): Metadata {
  const plain = unmarked(metadata)
  return isEmpty(plain) ? plain : { ...plain, [MARK]: digestOf(plain) }
}

/** The metadata as its user knows it. */
export function unmarked(metadata: Metadata): Metadata {
  if (metadata[MARK] === undefined) return metadata
  const { [MARK]: _, ...plain } = metadata
  return plain
}

/**
 * Whether the metadata of a record in `to` is the copy that a migrating process made, or there is none. So metadata that a
 * process with `to` alone has emptied comes back from `from`. But a name that was used in `to` before, without metadata, does
 * not empty the metadata of `from`.
 */
export function isCopy(metadata: Metadata = {}): boolean {
  const plain = unmarked(metadata)
  return isEmpty(plain) || metadata[MARK] === digestOf(plain)
}

/** The metadata of a name: that of `to` if a process without `from` has changed it, or else that of `from`. */
export function metadataOfBoth(from: Metadata | undefined, to: Metadata | undefined): Metadata {
  return (isCopy(to) ? from : to && unmarked(to)) ?? {}
}

export function areEqual(one: Metadata, other: Metadata): boolean {
  return textOf(one) === textOf(other)
}

function digestOf(plain: Metadata): string {
  return createHash('sha256').update(textOf(plain)).digest().subarray(0, 16).toString('base64url')
}

function isEmpty(plain: Metadata): boolean {
  return Object.keys(withoutBreakReason(plain)).length === 0
}

/** The reason of a break is no part of it: it goes away with the next grant. */
function textOf(plain: Metadata): string {
  const entries = Object.entries(withoutBreakReason(plain)).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(entries)
}
