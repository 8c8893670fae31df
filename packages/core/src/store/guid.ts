import { shownValue } from '../errors/shown-value.js'

/** The format of `crypto.randomUUID()`, which .NET calls D. */
const hyphenated = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** The format N of .NET: digits only. */
const digits = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i
/** The formats B and P of .NET: in braces, or in parentheses. */
const bracketed = /^(?:\{(.+)\}|\((.+)\))$/

/** Whether a value is a GUID as stores get it: in the format of `crypto.randomUUID()`. */
export function isGuid(value: unknown): value is string {
  return typeof value === 'string' && hyphenated.test(value)
}

/**
 * Returns a GUID in the format of `crypto.randomUUID()` and in lower case, so that two spellings are one id; `undefined` if
 * the value is no GUID. It may have any format of .NET, as the lease ids of Azure do.
 */
export function normalGuid(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const [, braced, parenthesised] = bracketed.exec(value) ?? []
  const plain = braced ?? parenthesised ?? value
  if (hyphenated.test(plain)) return plain.toLowerCase()
  return digits.test(value) ? value.replace(digits, '$1-$2-$3-$4-$5').toLowerCase() : undefined
}

export function faultOfGuid(value: unknown): string {
  return `the grant id must be a GUID, as crypto.randomUUID() makes it, not ${shownValue(value)}`
}
