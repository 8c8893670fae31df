import type { Origin } from './origin.js'
import type { Scalar } from './syntax-tree.js'

/** The numbers of JSON, and no others. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Whether a text is a number by the rules of JSON. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** What an unquoted string stands for when it stands alone: a number, a boolean, null, or itself. */
export function unquotedValue(text: string, origin: Origin): Scalar {
  return { kind: 'scalar', value: typed(text), text, origin, secret: false }
}

function typed(text: string): Scalar['value'] {
  const word = words.get(text)
  if (word !== undefined) return word
  return isNumber(text) ? Number(text) : text
}
