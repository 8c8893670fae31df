import type { CasRecord } from '@leasehold/core'

/** The annotation that keeps what the fields of a record's layout have no room for. */
export const NOTE = 'leasehold.dev/grant'

/** What is noted of a grant. It holds for the holder whose identity ends in its id, and for nobody else. */
export interface GrantNote {
  readonly id: string
  /** In milliseconds. */
  readonly ttl: number
  /** Known from the first heartbeat on: before, the token is the version of the object. */
  readonly token: bigint
  readonly metadata: Readonly<Record<string, string>>
  /** In milliseconds, where the lease was broken. */
  readonly breakPeriod?: number
}

export function writeNote({ grantId: id, ttl, fencingToken, metadata, breakPeriod }: CasRecord): string {
  return JSON.stringify({
    id,
    ttl,
    ...(fencingToken === 0n ? {} : { token: String(fencingToken) }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(breakPeriod === undefined ? {} : { breakPeriod }),
  })
}

/** `undefined` where there is none, or where it is not what we write: anybody may edit an annotation. */
export function readNote(annotations: unknown): GrantNote | undefined {
  const text = isFields(annotations) ? annotations[NOTE] : undefined
  const noted = typeof text === 'string' ? parse(text) : undefined
  if (!isFields(noted)) return undefined
  const { id, ttl, token, metadata, breakPeriod } = noted
  if (typeof id !== 'string' || id === '' || typeof ttl !== 'number' || !(ttl > 0)) return undefined
  return {
    id,
    ttl,
    token: typeof token === 'string' && /^\d{1,20}$/.test(token) ? BigInt(token) : 0n,
    metadata: isFields(metadata) ? textsOf(metadata) : {},
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
