import { parsedJSON } from '../store/json-text.js'
import type { CasRecord } from './cas-register.js'

/** The text of a record for a register that keeps texts: one line of JSON. */
export function recordText(record: CasRecord): string {
  return JSON.stringify({ ...record, fencingToken: String(record.fencingToken) })
}

/**
 * The record in a text that {@link recordText} made. A text of another program comes back with what it has, but without a token
 * that is no number: `casStore` then says that it is no lease record.
 */
export function recordIn(text: string): CasRecord {
  const parsed: unknown = parsedJSON(text)
  const { fencingToken, ...record } = (typeof parsed === 'object' ? (parsed ?? {}) : {}) as Record<string, unknown>
  const isToken = typeof fencingToken === 'string' && /^\d+$/.test(fencingToken)
  return { ...record, ...(isToken && { fencingToken: BigInt(fencingToken) }) } as unknown as CasRecord
}
