import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { faultOfMetadata } from '../metadata.js'
import type { Grant, LeaseRecord } from './lease-record.js'

const states: readonly unknown[] = [
  'leased',
  'expired',
  'breaking',
  'broken',
  'available',
] satisfies LeaseRecord['state'][]

/** The same fields as values of JSON, which has neither bigint nor `Infinity`. */
export function toPlainJSON(fields: object): Record<string, unknown> {
  const plain = Object.entries(fields).map(([field, value]) => {
    if (typeof value === 'bigint') return [field, String(value)]
    return [field, value === Number.POSITIVE_INFINITY ? 'infinite' : value]
  })
  return Object.fromEntries(plain)
}

/** A copy that `JSON.stringify` accepts. The method is not enumerable, so that it is no part of the record. */
export function withJSON<T extends object>(fields: T): T {
  return Object.defineProperty({ ...fields }, 'toJSON', { value: () => toPlainJSON(fields) })
}

/** The grant with these fields. Throws a `LeaseConfigurationError` with this message if they are not valid. */
export function grantFrom(fields: unknown, message: string): Grant {
  // A null or a primitive has no fields.
  const { name, owner, grantId, fencingToken, ttl } = Object(fields) as Record<string, unknown>
  const duration = durationFrom(ttl)
  const isToken = typeof fencingToken === 'string' && /^\d+$/.test(fencingToken)
  if (!isToken || !isText(name) || !isText(owner) || !isText(grantId) || duration === undefined || duration <= 0) {
    throw new LeaseConfigurationError(message)
  }
  return { name, owner, grantId, fencingToken: BigInt(fencingToken), ttl: duration }
}

/** A grant from what `JSON.stringify` made of it. */
export function grantFromJSON(json: unknown): Grant {
  return withJSON(grantFrom(parsed(json), notJSONOf('grant')))
}

/** A record from what `JSON.stringify` made of it. */
export function recordFromJSON(json: unknown): LeaseRecord {
  const fields = Object(parsed(json)) as Record<string, unknown>
  const { state, metadata, previous, remaining } = fields
  const grant = grantFrom(fields, notJSONOf('record'))
  const left = remaining === undefined ? undefined : durationFrom(remaining)
  const isValid =
    states.includes(state) &&
    faultOfMetadata(metadata) === undefined &&
    (previous === undefined || faultOfMetadata(previous) === undefined) &&
    (remaining === undefined || left !== undefined)
  if (!isValid) throw new LeaseConfigurationError(notJSONOf('record'))
  return withJSON({
    ...(fields as unknown as LeaseRecord),
    ...grant,
    ...(left === undefined ? {} : { remaining: left }),
  })
}

function notJSONOf(what: string): string {
  return `this is not the JSON of a ${what}: pass the text that JSON.stringify returned for one, or the value of that text`
}

function parsed(json: unknown): unknown {
  if (typeof json !== 'string') return json
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Milliseconds, or `infinite`; `undefined` if it is neither. */
function durationFrom(value: unknown): number | undefined {
  if (value === 'infinite') return Number.POSITIVE_INFINITY
  return typeof value === 'number' && value >= 0 ? value : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
