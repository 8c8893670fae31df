import type { Clock } from '@leasehold/core'
import { readText } from '@leasehold/core/internal'
import { parsedJSON } from '@leasehold/core/store-kit'
import { Refusal } from '../access/refusal.js'
import type { UiCall } from './ui-call.js'

/** In bytes. */
const BODY_LIMIT = 16_384

/** The fields of a body. Each may be anything. */
export type BodyFields = Readonly<Record<string, unknown>>

/** Reads the JSON object that a request carries. Rejects with a `Refusal` if it has another type, is too large, or is no object. */
export async function readFields(
  call: UiCall,
  limits: { readonly timeout: number; readonly clock: Clock },
): Promise<BodyFields> {
  const type = call.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  // A form of another site can have other types, but not this one.
  if (type !== 'application/json') throw refused(415, 'the body must be JSON: set content-type: application/json')
  if (Number(call.header('content-length') ?? 0) > BODY_LIMIT) throw tooLarge()
  const body = call.body()
  if (body === undefined) {
    throw refused(400, 'another part of the server has read the body: mount the page before the parsers of the server')
  }
  const read = await readText(body, { ...limits, limit: BODY_LIMIT })
  if (read === 'too-large') throw tooLarge()
  if (read === 'too-late') throw refused(408, `the body did not arrive within ${limits.timeout} ms: try again`)
  if (read === 'broken') throw refused(400, 'the body did not arrive: try again')
  const value = parsedJSON(read.text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused(400, 'the body must be a JSON object')
  return value as BodyFields
}

/** A text of a body. */
export function textIn(fields: BodyFields, field: string, longest: number): string {
  const value = fields[field]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= longest && value.isWellFormed()) return value
  throw refused(400, `${field} must be a text of 1 to ${longest} characters`)
}

/** A number of a body that is finite. */
export function numberIn(fields: BodyFields, field: string, least = Number.NEGATIVE_INFINITY): number {
  const value = fields[field]
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value
  throw refused(400, `${field} must be a number${least === 0 ? ' of 0 or more' : ''}`)
}

function refused(status: number, message: string): Refusal {
  return new Refusal(status, 'configuration', message)
}

function tooLarge(): Refusal {
  return refused(413, `the body has more than ${BODY_LIMIT} bytes: send less at a time`)
}
