import type { Grant, Metadata } from '@leasehold/core'
import { parsedJSON } from '@leasehold/core/store-kit'

/** The value of a lease's key, as JSON. */
export interface LeaseValue {
  readonly owner: string
  readonly grantId: string
  /** In milliseconds. */
  readonly ttl: number
  /**
   * The fencing token; absent in the write that grants the lease, and until the holder writes again: the token is then the
   * `ModifyIndex` of that write. Present in that write only as long as an earlier token was raised above the indexes.
   */
  readonly token?: bigint
  readonly metadata: Metadata
  /** The metadata that the holder found; absent for the first holder of a name. */
  readonly previous?: Metadata
  /** The lock-delay of the session of the holder, in milliseconds. */
  readonly lockDelay: number
  /** For how long a broken lease stays locked, in milliseconds. */
  readonly breakPeriod?: number
  /** Whether the holder has released the lease. */
  readonly released?: true
}

/** Marks the form of the value: other values of a key are those of other programs. */
const FORM = 'leasehold/1'

export function writeValue({ token, ...value }: LeaseValue): string {
  return JSON.stringify({ form: FORM, ...value, ...(token === undefined ? {} : { token: String(token) }) })
}

/** `undefined` if another program wrote the value: any program can write a key. */
export function readValue(text: string): LeaseValue | undefined {
  const fields = Object(parsedJSON(text)) as Record<string, unknown>
  if (fields.form !== FORM) return undefined
  const { owner, grantId, ttl, token, metadata, previous, lockDelay, breakPeriod, released } = fields
  const isValue =
    typeof owner === 'string' &&
    typeof grantId === 'string' &&
    typeof ttl === 'number' &&
    ttl > 0 &&
    isTexts(metadata) &&
    (previous === undefined || isTexts(previous)) &&
    typeof lockDelay === 'number' &&
    (token === undefined || (typeof token === 'string' && /^\d{1,20}$/.test(token))) &&
    (breakPeriod === undefined || (typeof breakPeriod === 'number' && breakPeriod >= 0))
  if (!isValue) return undefined
  return {
    ...{ owner, grantId, ttl, metadata, lockDelay },
    ...(token === undefined ? {} : { token: BigInt(token) }),
    ...(previous === undefined ? {} : { previous }),
    ...(breakPeriod === undefined ? {} : { breakPeriod }),
    ...(released === true ? { released } : {}),
  }
}

/** The grant that a value with a known token describes. */
export function grantOf(name: string, { owner, grantId, ttl }: LeaseValue, fencingToken: bigint): Grant {
  return { name, owner, grantId, fencingToken, ttl }
}

function isTexts(value: unknown): value is Metadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((entry) => typeof entry === 'string')
}
