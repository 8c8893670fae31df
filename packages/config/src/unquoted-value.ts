import type { Origin, Scalar } from './syntax-tree.js'

/** A JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const WORD = /^(?:true|false|null)$/

/** Parses a JSON number. Returns `undefined` if the text is not a number, or too large for a finite one. */
export function numberOf(text: string): number | undefined {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/**
 * The value of an unquoted string that is not concatenated: a number, a boolean, null or a string. `1e400` stays a
 * string: as a number it would be Infinity, which is a valid duration.
 */
export function unquotedValue(text: string, origin: Origin): Scalar {
  const value = WORD.test(text) ? (JSON.parse(text) as boolean | null) : (numberOf(text) ?? text)
  return { kind: 'scalar', value, text, origin, secret: false }
}
