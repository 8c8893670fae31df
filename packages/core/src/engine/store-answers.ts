import { isDefinitive } from '../errors/lease-error.js'
import { misfit } from '../errors/option-faults.js'
import { reasonOf } from '../errors/shown-value.js'
import { isLeaseState, type LeaseRecord, leaseStates } from '../store/lease-record.js'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome } from '../store/lease-store.js'
import { faultOfMetadata } from '../store/metadata.js'
import type { StoreRequest } from './engine-effect.js'
import type { AnswerEvent } from './engine-event.js'
import { invalidAnswer, toLeaseError } from './failures.js'
import type { LeaseRules } from './lease-rules.js'

/** The event for an answer. An answer that is not valid is a failure: whether the operation took effect is unknown. */
export function answerOf(rules: LeaseRules, op: number, method: StoreRequest['method'], answer: unknown): AnswerEvent {
  const fault = faultOfAnswer(method, answer)
  if (fault !== undefined) {
    return { type: 'failure', op, error: invalidAnswer(rules, method, fault), definitive: false }
  }
  switch (method) {
    case 'acquire':
    case 'change':
      return { type: 'acquire-answer', op, outcome: answer as AcquireOutcome }
    case 'read':
      return { type: 'read-answer', op, record: answer as LeaseRecord | undefined }
    case 'break':
      return { type: 'break-answer', op, remaining: (answer as { readonly remaining: number }).remaining }
    case 'renew':
    case 'update':
      return { type: 'renew-answer', op, outcome: answer as RenewOutcome }
    case 'release':
      return { type: 'release-answer', op, outcome: answer as ReleaseOutcome }
  }
}

/** Whether this is a valid answer to a renewal, and the grant is renewed. */
export function isRenewed(answer: unknown): boolean {
  return faultOfAnswer('renew', answer) === undefined && (answer as RenewOutcome).renewed
}

/** The event for a call that failed. */
export function failureOf(
  rules: LeaseRules,
  op: number,
  method: StoreRequest['method'],
  failure: unknown,
): AnswerEvent {
  const error = toLeaseError(rules, method, failure)
  return { type: 'failure', op, error, definitive: isDefinitive(error) }
}

const refusals: readonly unknown[] = ['taken', 'broken', 'deleted', 'expired']

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
  if (renewed !== false) return misfit('renewed', 'true or false', renewed)
  return refusals.includes(reason) ? faultOfHolder(holder) : misfit('reason', refusals.join(', '), reason)
}

function faultOfAcquireOutcome(answer: unknown): string | undefined {
  const { granted, grant, holder, previous } = fieldsOf(answer)
  if (granted === false) return faultOfHolder(holder)
  if (granted !== true) return misfit('granted', 'true or false', granted)
  const { fencingToken, ttl } = fieldsOf(grant)
  if (typeof fencingToken !== 'bigint') return misfit('grant.fencingToken', 'a bigint', fencingToken)
  if (!(typeof ttl === 'number' && ttl > 0)) return misfit('grant.ttl', 'a positive number', ttl)
  return faultOfTexts(grant, ['name', 'owner', 'grantId']) ?? faultOfPrevious(previous)
}

function faultOfReleaseOutcome(answer: unknown): string | undefined {
  const { released, holder } = fieldsOf(answer)
  return typeof released === 'boolean' ? faultOfHolder(holder) : misfit('released', 'true or false', released)
}

function faultOfBreakOutcome(answer: unknown): string | undefined {
  const { remaining } = fieldsOf(answer)
  return typeof remaining === 'number' && remaining >= 0
    ? undefined
    : misfit('remaining', '0 or more milliseconds', remaining)
}

function faultOfHolder(holder: unknown): string | undefined {
  return holder === undefined ? undefined : faultOfRecord(holder)
}

function faultOfRecord(record: unknown): string | undefined {
  const { state, fencingToken, ttl, previous } = fieldsOf(record)
  if (!isLeaseState(state)) return misfit('state', leaseStates.join(', '), state)
  if (typeof fencingToken !== 'bigint') return misfit('fencingToken', 'a bigint', fencingToken)
  if (ttl !== undefined && typeof ttl !== 'number') return misfit('ttl', 'a number', ttl)
  return faultOfTexts(record, ['name', 'owner', 'grantId']) ?? faultOfPrevious(previous)
}

function faultOfPrevious(previous: unknown): string | undefined {
  return previous === undefined ? undefined : faultOfMetadata(previous)
}

function faultOfTexts(of: unknown, names: readonly string[]): string | undefined {
  const fields = fieldsOf(of)
  const name = names.find((field) => typeof fields[field] !== 'string')
  return name === undefined ? undefined : misfit(name, 'a string', fields[name])
}

/** The fields of a value. A null or a primitive has none. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Record<string, unknown>
}
