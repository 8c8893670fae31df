import type { Metadata } from '@leasehold/core'
import type { CasRecord } from '@leasehold/core/store'
import { parsedJSON } from '@leasehold/core/store-kit'

/** The annotation with the fields of a held record for which its layout has no room. */
export const NOTE = 'leasehold.dev/grant'

/** The annotation on a released object, with the metadata that its last holder left. */
export const LEFT = 'leasehold.dev/released'

/** The annotation of a grant. It is valid while the holder's identity ends in its id, or while the holder is empty. */
export interface GrantNote {
  readonly id: string
  /** In milliseconds. */
  readonly ttl: number
  /** 0 until the first heartbeat: the token is then the version of the object, unless it was raised above the versions. */
  readonly token: bigint
  readonly metadata: Metadata
  /** The metadata that the holder found. */
  readonly previous?: Metadata
  /** The count of transitions of the same write, in a layout that has one. A later holder has a larger count. */
  readonly transitions?: number
  /** In milliseconds, of a broken lease. */
  readonly breakPeriod?: number
  /** How often the grant was renewed; absent if an earlier version wrote the annotation. */
  readonly renewals?: number
}

/**
 * The annotation of a released grant. It is valid until another holder has counted a transition. The token is 0 unless it
 * was raised above the versions.
 */
export type ReleaseNote = Pick<GrantNote, 'id' | 'metadata' | 'transitions' | 'token'>

/** `transitions`: the count that the same write has. */
export function writeNote(record: CasRecord, transitions: number | undefined): string {
  const { grantId: id, ttl, fencingToken, metadata, previous, breakPeriod, renewals } = record
  return JSON.stringify({
    id,
    ttl,
    ...tokenField(fencingToken),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    previous,
    transitions,
    breakPeriod,
    renewals: renewals?.count,
  })
}

/** `raised`: the token, if it is larger than the versions; else 0, and the annotation has none. */
export function writeRelease(
  { grantId: id, metadata }: CasRecord,
  transitions: number | undefined,
  raised: bigint,
): string {
  return JSON.stringify({ id, metadata, transitions, ...tokenField(raised) })
}

function tokenField(token: bigint): { token?: string } {
  return token === 0n ? {} : { token: String(token) }
}

/** The revision of records from objects is 0. */
export function recordFieldsOf({ ttl, token, metadata, previous, breakPeriod, renewals }: GrantNote) {
  return {
    fencingToken: token,
    ttl,
    metadata,
    ...(previous === undefined ? {} : { previous }),
    ...(breakPeriod === undefined ? {} : { breakPeriod }),
    ...(renewals === undefined ? {} : { renewals: { count: renewals, revision: 0 } }),
  }
}

/** `undefined` if there is no annotation, or it is not one of ours: any program can edit annotations. */
export function readNote(annotations: unknown): GrantNote | undefined {
  const fields = fieldsIn(annotations, NOTE)
  if (fields === undefined) return undefined
  const { id, ttl, token, metadata, previous, transitions, breakPeriod, renewals } = fields
  if (typeof id !== 'string' || id === '' || typeof ttl !== 'number' || !(ttl > 0)) return undefined
  return {
    id,
    ttl,
    token: tokenIn(token),
    metadata: isFields(metadata) ? textsOf(metadata) : {},
    ...(isFields(previous) ? { previous: textsOf(previous) } : {}),
    ...(typeof transitions === 'number' ? { transitions } : {}),
    ...(typeof breakPeriod === 'number' && breakPeriod >= 0 ? { breakPeriod } : {}),
    ...(typeof renewals === 'number' && renewals >= 0 ? { renewals } : {}),
  }
}

/** `undefined` if there is no annotation, or it is not one of ours. */
export function readRelease(annotations: unknown): ReleaseNote | undefined {
  const { id, metadata, transitions, token } = fieldsIn(annotations, LEFT) ?? {}
  if (typeof id !== 'string' || id === '' || !isFields(metadata)) return undefined
  const counted = typeof transitions === 'number' ? { transitions } : {}
  return { id, metadata: textsOf(metadata), token: tokenIn(token), ...counted }
}

function tokenIn(field: unknown): bigint {
  return typeof field === 'string' && /^\d{1,20}$/.test(field) ? BigInt(field) : 0n
}

function fieldsIn(annotations: unknown, key: string): Record<string, unknown> | undefined {
  const text = isFields(annotations) ? annotations[key] : undefined
  const fields = typeof text === 'string' ? parsedJSON(text) : undefined
  return isFields(fields) ? fields : undefined
}

function textsOf(metadata: Record<string, unknown>): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
