import { LeaseConfigurationError } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import type { Json } from './message.js'

/** Deeper values are refused: a stack has an end. */
const MOST_LEVELS = 200

/**
 * A copy of a value as another process would get it. Throws a `LeaseConfigurationError` if JSON cannot carry the value
 * unchanged. What stays in the process is copied by the same rule: an entity must not see a difference when its shard moves,
 * and shares no object with the sender. Members that are `undefined` are left out, as in JSON.
 *
 * @param of names the value in the error.
 */
export function carried(value: unknown, of: string): Json {
  return copyOf(value, of, [])
}

function copyOf(value: unknown, at: string, within: unknown[]): Json {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  // JSON has no -0.
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0
  if (typeof value !== 'object') return refuse(at, kindOf(value))
  if (within.includes(value)) return refuse(at, 'a part of itself')
  if (within.length >= MOST_LEVELS) return refuse(at, `more than ${MOST_LEVELS} levels deep`)
  within.push(value)
  const copy = Array.isArray(value) ? itemsOf(value, at, within) : membersOf(value, at, within)
  within.pop()
  return copy
}

function itemsOf(value: readonly unknown[], at: string, within: unknown[]): Json {
  const copy: Json[] = []
  for (let place = 0; place < value.length; place += 1) copy.push(copyOf(value[place], `${at}[${place}]`, within))
  return copy
}

function membersOf(value: object, at: string, within: unknown[]): Json {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return refuse(at, `a ${shownText(String(prototype.constructor?.name ?? 'class instance'))}`)
  }
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    if (key === '__proto__') return refuse(at, 'an object with a member __proto__')
    copy[key] = copyOf(member, `${at}.${key}`, within)
  }
  return copy
}

function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`
}

function refuse(at: string, kind: string): never {
  throw new LeaseConfigurationError(
    `${at} is ${kind}, which JSON cannot carry: send texts, numbers, arrays and plain objects`,
  )
}
