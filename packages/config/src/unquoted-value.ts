import type { Origin, Scalar } from './syntax-tree.js'

/** A JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Whether a text is a JSON number. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** Parses a JSON number. Returns `undefined` if the text is not a number, or too large for a finite one. */
export function numberOf(text: string): number | undefined {
  const number = isNumber(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/** The value of an unquoted string that is not concatenated: a number, a boolean, null or a string. */
export function unquotedValue(text: string, origin: Origin): Scalar {
  return { kind: 'scalar', value: typed(text), text, origin, secret: false }
}

function typed(text: string): Scalar['value'] {
  const word = words.get(text)
  if (word !== undefined) return word
  // `1e400` stays a string. As a number it would be Infinity, which is a valid duration.
  return numberOf(text) ?? text
}
