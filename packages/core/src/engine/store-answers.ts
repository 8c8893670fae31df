import { faultOfMetadata } from '../metadata.js'
import { reasonOf, shownValue } from '../shown-value.js'
import type { StoreRequest } from './engine-effect.js'

const refusals: readonly unknown[] = ['taken', 'broken', 'deleted', 'expired']
const states: readonly unknown[] = ['leased', 'expired', 'breaking', 'broken', 'available']

/**
 * The reason why an answer of a store is not valid; `undefined` if it is valid. Anyone can write a store. An answer that is
 * not valid counts as unknown, so that a faulty store can cost its lease a grant, but never make it believe in one.
 */
export function faultOfAnswer(method: StoreRequest['method'], answer: unknown): string | undefined {
  try {
    return faultOf(method, answer)
  } catch (error) {
    // A getter or a proxy that throws.
    return `it throws when it is read: ${reasonOf(error)}`
  }
}

function faultOf(method: StoreRequest['method'], answer: unknown): string | undefined {
  switch (method) {
    case 'acquire':
    case 'change':
      return faultOfAcquireOutcome(answer)
    case 'read':
      return answer === undefined ? undefined : faultOfRecord(answer)
    case 'renew':
    case 'update':
      return faultOfRenewOutcome(answer)
    case 'release':
      return faultOfReleaseOutcome(answer)
    case 'break':
      return faultOfBreakOutcome(answer)
  }
}

function faultOfRenewOutcome(answer: unknown): string | undefined {
  const { renewed, reason, holder } = fieldsOf(answer)
  if (renewed === true) return undefined
  if (renewed !== false) return wrong('renewed', 'true or false', renewed)
  return refusals.includes(reason) ? faultOfHolder(holder) : wrong('reason', refusals.join(', '), reason)
}

function faultOfAcquireOutcome(answer: unknown): string | undefined {
  const { granted, grant, holder, previous } = fieldsOf(answer)
  if (granted === false) return faultOfHolder(holder)
  if (granted !== true) return wrong('granted', 'true or false', granted)
  const { fencingToken, ttl } = fieldsOf(grant)
  if (typeof fencingToken !== 'bigint') return wrong('grant.fencingToken', 'a bigint', fencingToken)
  if (!(typeof ttl === 'number' && ttl > 0)) return wrong('grant.ttl', 'a positive number', ttl)
  return faultOfTexts(grant, ['name', 'owner', 'grantId']) ?? faultOfPrevious(previous)
}

function faultOfReleaseOutcome(answer: unknown): string | undefined {
  const { released, holder } = fieldsOf(answer)
  return typeof released === 'boolean' ? faultOfHolder(holder) : wrong('released', 'true or false', released)
}

function faultOfBreakOutcome(answer: unknown): string | undefined {
  const { remaining } = fieldsOf(answer)
  return typeof remaining === 'number' && remaining >= 0
    ? undefined
    : wrong('remaining', '0 or more milliseconds', remaining)
}

function faultOfHolder(holder: unknown): string | undefined {
  return holder === undefined ? undefined : faultOfRecord(holder)
}

function faultOfRecord(record: unknown): string | undefined {
  const { state, fencingToken, ttl, previous } = fieldsOf(record)
  if (!states.includes(state)) return wrong('state', states.join(', '), state)
  if (typeof fencingToken !== 'bigint') return wrong('fencingToken', 'a bigint', fencingToken)
  if (ttl !== undefined && typeof ttl !== 'number') return wrong('ttl', 'a number', ttl)
  return faultOfTexts(record, ['name', 'owner', 'grantId']) ?? faultOfPrevious(previous)
}

function faultOfPrevious(previous: unknown): string | undefined {
  return previous === undefined ? undefined : faultOfMetadata(previous)
}

function faultOfTexts(of: unknown, names: readonly string[]): string | undefined {
  const fields = fieldsOf(of)
  const name = names.find((field) => typeof fields[field] !== 'string')
  return name === undefined ? undefined : wrong(name, 'a string', fields[name])
}

/** A null or a primitive has none. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Record<string, unknown>
}

function wrong(field: string, expected: string, value: unknown): string {
  return `${field} must be ${expected}, not ${shownValue(value)}`
}
