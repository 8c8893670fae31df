import { isDenied } from './failure-of.js'
import { bodyOf, type ConsulAnswer } from './http/consul-answer.js'
import { type KvEntry, LOCK_FLAGS, toEntry } from './kv-entry.js'
import { type LeaseValue, writeValue } from './lease-value.js'

/** The most operations that a transaction takes. */
export const MOST_OPERATIONS = 64

/** The JSON of one operation: its flags are a number that JavaScript has no type for. */
type OperationJSON = string

/** The check that the key is as it was read: with this index, or absent. */
export function unchanged(key: string, entry: Pick<KvEntry, 'modifyIndex'> | undefined): OperationJSON {
  if (entry === undefined) return operation({ Verb: 'check-not-exists', Key: key })
  return operation({ Verb: 'check-index', Key: key, Index: entry.modifyIndex })
}

/** Locks the key for the session, or writes it under the lock that the session has. */
export function lock(key: string, session: string, value: LeaseValue): OperationJSON {
  return operation({ Verb: 'lock', Key: key, Session: session, Value: inBase64(value) }, LOCK_FLAGS)
}

export function unlock(key: string, session: string, value: LeaseValue): OperationJSON {
  return operation({ Verb: 'unlock', Key: key, Session: session, Value: inBase64(value) }, LOCK_FLAGS)
}

export function get(key: string): OperationJSON {
  return operation({ Verb: 'get', Key: key })
}

export function transaction(operations: readonly OperationJSON[]): string {
  return `[${operations.join(',')}]`
}

/** The outcome of a transaction: its entries in order, or the reason for which it was not applied. */
export type TransactionOutcome =
  | { readonly applied: true; readonly entries: readonly KvEntry[] }
  /**
   * `changed`: the key is not as it was read. `delayed`: a lock-delay is in force. `session`: the session has ended.
   * `failed`: the places of the operations that failed for this reason.
   */
  | { readonly applied: false; readonly reason: 'changed' | 'delayed' | 'session'; readonly failed: readonly number[] }

/** `undefined`: the answer is not that of a transaction that was applied or certainly was not. */
export function outcomeOf(answer: ConsulAnswer): TransactionOutcome | undefined {
  const { Results, Errors } = Object(bodyOf(answer)) as { Results?: unknown; Errors?: unknown }
  if (answer.status === 200 && Array.isArray(Results)) {
    const entries = Results.map((result) => toEntry((result as { KV?: unknown }).KV))
    return entries.includes(undefined) ? undefined : { applied: true, entries: entries as KvEntry[] }
  }
  if (answer.status !== 409 || !Array.isArray(Errors) || Errors.length === 0) return undefined
  const errors = Errors as { OpIndex?: number; What?: string }[]
  const said = errors.map(({ What = '' }) => What).join('; ')
  // The text contains the name of a key, which may contain the words of another reason.
  if (isDenied(said)) return undefined
  const failed = errors.map(({ OpIndex = 0 }) => OpIndex)
  if (/lock delay/.test(said)) return { applied: false, reason: 'delayed', failed }
  if (/invalid session|missing session/.test(said)) return { applied: false, reason: 'session', failed }
  const isChanged = /index check|exist|already held|lock isn't held|isn't locked|lock held|failed to (un)?lock/.test(
    said,
  )
  return isChanged ? { applied: false, reason: 'changed', failed } : undefined
}

function operation(fields: Readonly<Record<string, string | number>>, flags?: string): OperationJSON {
  const text = JSON.stringify({ KV: fields })
  return flags === undefined ? text : `${text.slice(0, -2)},"Flags":${flags}}}`
}

function inBase64(value: LeaseValue): string {
  return Buffer.from(writeValue(value)).toString('base64')
}
