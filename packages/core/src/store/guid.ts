import { shownValue } from '../errors/shown-value.js'

/** The format of `crypto.randomUUID()`, which .NET calls D. */
const hyphenated = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** N. */
const digits = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i
/** B and P. */
const bracketed = /^(?:\{(.+)\}|\((.+)\))$/

/** Whether a value is a GUID as stores get it: in the format of `crypto.randomUUID()`. */
export function isGuid(value: unknown): value is string {
  return typeof value === 'string' && hyphenated.test(value)
}

/**
 * A GUID of any format of .NET, which are those of the lease ids of Azure, in the format of `crypto.randomUUID()` and in lower
 * case, so that two spellings are one id. `undefined` if it is no GUID.
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
