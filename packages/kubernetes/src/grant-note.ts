import type { CasRecord } from '@leasehold/core'

/** The annotation that keeps what the fields of a record's layout have no room for. */
export const NOTE = 'leasehold.dev/grant'

/** What is noted of a grant. It is valid only beside the holder whose identity ends in its id, or beside no holder. */
export interface GrantNote {
  readonly id: string
  /** In milliseconds. */
  readonly ttl: number
  /** Known from the first heartbeat on: before, the token is the version of the object. */
  readonly token: bigint
  readonly metadata: Readonly<Record<string, string>>
  /** The count of transitions that was written with it, where the layout has one: another holder counts on from there. */
  readonly transitions?: number
  /** In milliseconds, where the lease was broken. */
  readonly breakPeriod?: number
}

/** `transitions`: as they are written with it. */
export function writeNote(record: CasRecord, transitions: number | undefined): string {
  const { grantId: id, ttl, fencingToken, metadata, breakPeriod } = record
  return JSON.stringify({
    id,
    ttl,
    ...(fencingToken === 0n ? {} : { token: String(fencingToken) }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(transitions === undefined ? {} : { transitions }),
    ...(breakPeriod === undefined ? {} : { breakPeriod }),
  })
}

/** `undefined` where there is none, or where it is not what we write: anybody may edit an annotation. */
export function readNote(annotations: unknown): GrantNote | undefined {
  const text = isFields(annotations) ? annotations[NOTE] : undefined
  const noted = typeof text === 'string' ? parse(text) : undefined
  if (!isFields(noted)) return undefined
  const { id, ttl, token, metadata, transitions, breakPeriod } = noted
  if (typeof id !== 'string' || id === '' || typeof ttl !== 'number' || !(ttl > 0)) return undefined
  return {
    id,
    ttl,
    token: typeof token === 'string' && /^\d{1,20}$/.test(token) ? BigInt(token) : 0n,
    metadata: isFields(metadata) ? textsOf(metadata) : {},
    ...(typeof transitions === 'number' ? { transitions } : {}),
    ...(typeof breakPeriod === 'number' && breakPeriod >= 0 ? { breakPeriod } : {}),
  }
}

function textsOf(metadata: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
