import { ConfigLimitError, ConfigSyntaxError } from './config-error.js'
import type { IncludeRequest } from './include-source.js'
import type { Limits } from './limits.js'
import { readPath } from './path-expression.js'
import { Scanner } from './scanner.js'
import {
  type Concatenation,
  type Document,
  type Expression,
  type Include,
  type ListLiteral,
  type ObjectLiteral,
  type Origin,
  type Reference,
  type Scalar,
  type Space,
  type Statement,
  stringAt,
} from './syntax-tree.js'
import { unquotedValue } from './unquoted-value.js'

/** Returns the documents of the include statement at `origin` in merge order. */
export type IncludeLoader = (request: IncludeRequest, required: boolean, origin: Origin) => readonly Document[]

/** Begins an include statement, as a whole word at the start of a key. */
const INCLUDE = 'include'

const includeKinds = ['file', 'url', 'classpath'] as const

/** A recursive descent parser for HOCON. Its depth is limited by `maxDepth`. */
export class Parser {
  readonly #scanner: Scanner
  readonly #limits: Limits
  readonly #include: IncludeLoader
  #depth = 0

  /** `source`: the name of the text in errors. `include`: loads the documents of an include statement. */
  constructor(text: string, source: string, limits: Limits, include: IncludeLoader) {
    if (text.length > limits.maxLength) {
      throw new ConfigLimitError(`the text has ${text.length} characters, more than maxLength (${limits.maxLength})`, {
        source,
        line: 0,
        column: 0,
      })
    }
    this.#scanner = new Scanner(text, source)
    this.#limits = limits
    this.#include = include
  }

  /** Returns the statements of the root object. */
  parse(): readonly Statement[] {
    const scanner = this.#scanner
    scanner.skip()
    if (scanner.next === '[') throw scanner.unexpected('an object at the root')
    if (scanner.next !== '{') return this.#elements('', scanner.origin, () => this.#statement())
    const { statements } = this.#nest(() => this.#object())
    scanner.skip()
    if (!scanner.isAtEnd) throw scanner.unexpected('the end of the text after the root object')
    return statements
  }

  /**
   * Reads the elements up to the closing bracket `end` and consumes it. The end of the text, `''`, ends a root object
   * without braces. Between two elements there is a comma, a newline or both.
   */
  #elements<T>(end: '}' | ']' | '', opened: Origin, read: () => T): T[] {
    const scanner = this.#scanner
    const elements: T[] = []
    for (;;) {
      scanner.skip()
      if (scanner.next === end) break
      if (scanner.isAtEnd) {
        throw new ConfigSyntaxError(
          `expected '${end}' before the end of the text, to close the bracket opened in line ${opened.line}`,
          scanner.origin,
        )
      }
      elements.push(read())
      const newline = scanner.skip()
      if (!scanner.take(',') && !newline && scanner.next !== end && !scanner.isAtEnd)
        throw scanner.unexpected(`a comma, a newline or ${end === '' ? 'the end of the text' : `'${end}'`}`)
    }
    scanner.take(end)
    return elements
  }

  #statement(): Statement {
    const scanner = this.#scanner
    if (scanner.seesWord(INCLUDE)) return this.#includeStatement()
    const path = readPath(scanner, 'a key')
    this.#checkDepth(this.#depth + path.length)
    scanner.skip()
    const append = scanner.take('+=')
    if (!append && !scanner.take('=') && !scanner.take(':') && scanner.next !== '{')
      throw scanner.unexpected(`'=', ':', '+=' or '{' after a key`)
    scanner.skip()
    const value = this.#expression('the value of the key')
    return { kind: 'field', path, value: append ? { kind: 'append', element: value, origin: value.origin } : value }
  }

  #includeStatement(): Include {
    const scanner = this.#scanner
    const { origin } = scanner
    scanner.take(INCLUDE)
    scanner.skip()
    const required = scanner.take('required(')
    scanner.skip()
    const kind = includeKinds.find((known) => scanner.take(`${known}(`)) ?? 'heuristic'
    scanner.skip()
    if (scanner.next !== '"') throw scanner.unexpected('a quoted name to include')
    const name = scanner.quoted()
    for (let open = Number(required) + Number(kind !== 'heuristic'); open > 0; open -= 1) {
      scanner.skip()
      if (!scanner.take(')')) throw scanner.unexpected("')' at the end of the include statement")
    }
    return { kind: 'include', documents: this.#include({ kind, name, from: origin.source }, required, origin) }
  }

  /** Reads the values up to the end of the line. Several values are concatenated. */
  #expression(expected: string): Expression {
    const scanner = this.#scanner
    const parts: (Expression | Space)[] = []
    for (;;) {
      const space = scanner.blanks()
      const part = this.#part()
      if (part === undefined) break
      if (space !== '' && parts.length > 0) parts.push({ kind: 'space', text: space })
      parts.push(part)
    }
    const [first] = parts
    // `first` is never a space. The check narrows its type.
    if (first === undefined || first.kind === 'space') throw scanner.unexpected(expected)
    return parts.length === 1 ? first : foldConcatenation({ kind: 'concatenation', parts, origin: first.origin })
  }

  #part(): Expression | undefined {
    const scanner = this.#scanner
    if (scanner.next === '{') return this.#nest(() => this.#object())
    if (scanner.next === '[') return this.#nest(() => this.#list())
    if (scanner.next === '$') return this.#reference()
    const { origin } = scanner
    if (scanner.next === '"') return stringAt(scanner.quoted(), origin)
    const text = scanner.unquoted()
    return text === '' ? undefined : unquotedValue(text, origin)
  }

  #object(): ObjectLiteral {
    const { origin } = this.#scanner
    this.#scanner.take('{')
    return { kind: 'object', statements: this.#elements('}', origin, () => this.#statement()), origin }
  }

  #list(): ListLiteral {
    const { origin } = this.#scanner
    this.#scanner.take('[')
    return { kind: 'list', items: this.#elements(']', origin, () => this.#expression('a value')), origin }
  }

  #reference(): Reference {
    const scanner = this.#scanner
    const { origin } = scanner
    if (!scanner.take('${')) throw scanner.unexpected("'{' after '$', or a quoted '$'")
    const optional = scanner.take('?')
    const path = readPath(scanner, 'a path')
    if (!scanner.take('}')) throw scanner.unexpected("'}' at the end of a substitution")
    return { kind: 'reference', path, optional, origin }
  }

  #nest<T>(parse: () => T): T {
    this.#depth += 1
    this.#checkDepth(this.#depth)
    const parsed = parse()
    this.#depth -= 1
    return parsed
  }

  #checkDepth(depth: number): void {
    const { maxDepth } = this.#limits
    if (depth <= maxDepth) return
    throw new ConfigLimitError(`the text is nested deeper than maxDepth (${maxDepth})`, this.#scanner.origin)
  }
}

/** Folds a concatenation without substitutions into one literal. Throws if the parts can never be concatenated. */
function foldConcatenation(concatenation: Concatenation): Expression {
  const { parts, origin } = concatenation
  if (parts.every((part): part is Scalar | Space => part.kind === 'scalar' || part.kind === 'space')) {
    return stringAt(parts.map(({ text }) => text).join(''), origin)
  }
  const values = parts.filter((part): part is Expression => part.kind !== 'space')
  if (values.some(({ kind }) => kind === 'scalar') && values.some(({ kind }) => kind === 'list' || kind === 'object')) {
    throw new ConfigSyntaxError(
      'an object or a list cannot be concatenated with a string, a number, a boolean or null: put a comma or a newline ' +
        'between them',
      origin,
    )
  }
  if (values.every((value) => value.kind === 'list')) {
    return { kind: 'list', items: values.flatMap(({ items }) => items), origin }
  }
  if (values.every((value) => value.kind === 'object')) {
    return { kind: 'object', statements: values.flatMap(({ statements }) => statements), origin }
  }
  return concatenation
}
