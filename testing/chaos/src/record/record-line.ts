import type { Notice } from '../history/history.js'
import type { Operation } from '../history/operation.js'

/**
 * A line of the record of a process. A call has a line before it, whose outcome is `unknown` and whose `to` is `Infinity`,
 * and another one with the same id after it: if the process dies in between, the first one stands.
 */
export type RecordLine = Operation | Notice

/** JSON, with tokens as texts and `Infinity` as null. */
export function toLine(line: RecordLine): string {
  return `${JSON.stringify(line, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`
}

export function fromLine(text: string): RecordLine {
  return JSON.parse(text, revive) as RecordLine
}

function revive(key: string, value: unknown): unknown {
  if (key === 'token' && typeof value === 'string') return BigInt(value)
  return value === null && (key === 'to' || key === 'validUntil') ? Number.POSITIVE_INFINITY : value
}
