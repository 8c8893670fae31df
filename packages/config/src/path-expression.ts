import { ConfigOptionError, ConfigSyntaxError } from './config-error.js'
import { Scanner } from './scanner.js'

/**
 * Reads a path expression. Dots outside of quotes separate the elements. White space within an element is kept. Stops at
 * the first character that cannot be part of a path, after consuming white space.
 */
export function readPath(scanner: Scanner, expected: string): string[] {
  /** `undefined`: an element without a character. The last element can be continued. */
  const path: (string | undefined)[] = [undefined]
  scanner.blanks()
  const { origin } = scanner
  for (let space = ''; ; space = scanner.blanks()) {
    const isQuoted = scanner.next === '"'
    const [first = '', ...others] = isQuoted ? [scanner.quoted()] : scanner.unquoted().split('.')
    if (!isQuoted && first === '' && others.length === 0) break
    if (isQuoted || space + first !== '') path.push((path.pop() ?? '') + space + first)
    for (const other of others) path.push(other === '' ? undefined : other)
  }
  if (path.length === 1 && path[0] === undefined) throw scanner.unexpected(expected)
  if (path.includes(undefined))
    throw new ConfigSyntaxError('a path has an empty element: expected a word, or ""', origin)
  // A copy has no spare capacity, which adds up: there is one path for each key of a text.
  return [...path] as string[]
}

/** Parses a path given in code. Throws a `ConfigOptionError` if it is invalid. */
export function parsePath(text: string): readonly string[] {
  if (typeof text !== 'string') throw new ConfigOptionError(`a path must be a string, not ${typeof text}`)
  const scanner = new Scanner(text, 'path')
  try {
    const path = readPath(scanner, 'a path')
    if (scanner.isAtEnd) return path
    throw scanner.unexpected('the end of the path')
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error
    throw new ConfigOptionError(`${JSON.stringify(text)} is not a path: ${error.message}`, undefined, error)
  }
}

/** Formats a path. Elements are quoted where necessary. */
export function formatPath(path: readonly string[]): string {
  return path.map((element) => (/^[\p{L}\p{N}_-]+$/u.test(element) ? element : JSON.stringify(element))).join('.')
}

export function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((element, place) => element === other[place])
}
