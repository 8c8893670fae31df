import type { Origin, Scalar } from './syntax-tree.js'

/** The numbers of JSON, and no others. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Whether a text is spelled as a number by the rules of JSON. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** The number that a text is; `undefined` where it is none, or one that is too large to be represented. */
export function numberOf(text: string): number | undefined {
  const number = isNumber(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/** What an unquoted string stands for when it stands alone: a number, a boolean, null, or itself. */
export function unquotedValue(text: string, origin: Origin): Scalar {
  return { kind: 'scalar', value: typed(text), text, origin, secret: false }
}

function typed(text: string): Scalar['value'] {
  const word = words.get(text)
  if (word !== undefined) return word
  // `1e400` stays a text: as a number it would be Infinity, which means "without end" to a reader of durations.
  return numberOf(text) ?? text
}
