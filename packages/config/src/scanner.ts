import { isBlank, isNewline, isReserved, isUnquoted } from './characters.js'
import { ConfigSyntaxError } from './config-error.js'
import type { Origin } from './syntax-tree.js'
import { isNumber } from './unquoted-value.js'

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

const TRIPLE = '"""'

/** The start of a number, alone or directly after the words `true`, `false` and `null`. */
const NUMERIC = /(?:true|false|null)*([-\d][\deE.+-]*)/y

/** Reads the tokens of a text in order and keeps track of the line. */
export class Scanner {
  readonly #text: string
  readonly #source: string
  #at = 0
  #line = 1
  #lineStart = 0

  constructor(text: string, source: string) {
    this.#text = text
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** The next character, or an empty string at the end. */
  get next(): string {
    return this.#text.charAt(this.#at)
  }

  get origin(): Origin {
    return { source: this.#source, line: this.#line, column: this.#at - this.#lineStart + 1 }
  }

  /** Whether the text continues with these characters. */
  sees(characters: string): boolean {
    return this.#text.startsWith(characters, this.#at)
  }

  /** Consumes these characters if the text continues with them. */
  take(characters: string): boolean {
    if (!this.sees(characters)) return false
    this.#at += characters.length
    return true
  }

  /** Whether the text continues with this unquoted word, and the word ends there. */
  seesWord(word: string): boolean {
    return this.sees(word) && !this.#isUnquotedAt(this.#at + word.length)
  }

  get seesNewline(): boolean {
    return isNewline(this.#text.charCodeAt(this.#at))
  }

  get seesUnquoted(): boolean {
    return this.#isUnquotedAt(this.#at)
  }

  get seesComment(): boolean {
    return this.next === '#' || this.sees('//')
  }

  /** Consumes and returns white space up to the end of the line. */
  blanks(): string {
    const start = this.#at
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  /** Consumes white space, newlines and comments. Returns whether there was a newline. */
  skip(): boolean {
    const line = this.#line
    for (;;) {
      this.blanks()
      if (this.seesNewline) {
        this.#at += 1
        this.#line += 1
        this.#lineStart = this.#at
      } else if (this.seesComment) {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end < 0 ? this.#text.length : end
      } else {
        return this.#line > line
      }
    }
  }

  /** Consumes and returns the unquoted string that begins here. */
  unquoted(): string {
    const start = this.#at
    NUMERIC.lastIndex = start
    const number = NUMERIC.exec(this.#text)?.[1] ?? ''
    // An unquoted value may contain one forbidden character: the plus sign of an exponent.
    if (number.includes('+') && isNumber(number)) this.#at = NUMERIC.lastIndex
    while (this.#isUnquotedAt(this.#at)) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  /** Consumes and returns the quoted string that begins here, with one quote or three. */
  quoted(): string {
    return this.sees(TRIPLE) ? this.#multiLine() : this.#singleLine()
  }

  /** The error for a text that does not continue with `expected`. */
  unexpected(expected: string): ConfigSyntaxError {
    return new ConfigSyntaxError(`expected ${expected}, found ${this.#describe()}`, this.origin)
  }

  #multiLine(): string {
    const { origin } = this
    const start = this.#at + TRIPLE.length
    let end = this.#text.indexOf(TRIPLE, start)
    if (end < 0) throw new ConfigSyntaxError('this triple-quoted string has no end: expected """', origin)
    // HOCON: of four or more quotes, the last three end the string.
    while (this.#text.startsWith('"', end + TRIPLE.length)) end += 1
    const value = this.#text.slice(start, end)
    this.#at = end + TRIPLE.length
    for (let newline = value.indexOf('\n'); newline >= 0; newline = value.indexOf('\n', newline + 1)) {
      this.#line += 1
      this.#lineStart = start + newline + 1
    }
    return value
  }

  #singleLine(): string {
    const { origin } = this
    const pieces: string[] = []
    this.#at += 1
    let start = this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (Number.isNaN(code) || isNewline(code)) {
        throw new ConfigSyntaxError('this string has no end: expected " on the same line', origin)
      }
      if (code < 0x20) {
        const shown = `\\u${code.toString(16).padStart(4, '0')}`
        throw new ConfigSyntaxError(`a string contains a control character: write it as ${shown}`, this.origin)
      }
      const character = this.next
      if (character !== '"' && character !== '\\') {
        this.#at += 1
        continue
      }
      pieces.push(this.#text.slice(start, this.#at))
      if (character === '\\') pieces.push(this.#escape())
      else this.#at += 1
      if (character === '"') return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
      start = this.#at
    }
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at + 1)
    const simple = escapes.get(letter)
    if (simple !== undefined) {
      this.#at += 2
      return simple
    }
    const digits = this.#text.slice(this.#at + 2, this.#at + 6)
    if (letter !== 'u' || !/^[\da-fA-F]{4}$/.test(digits)) {
      throw new ConfigSyntaxError(
        'this is not an escape sequence of JSON: expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t, or \\u and four hexadecimal digits',
        this.origin,
      )
    }
    this.#at += 6
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  #isUnquotedAt(at: number): boolean {
    return (
      isUnquoted(this.#text.charCodeAt(at)) && !(this.#text.charAt(at) === '/' && this.#text.charAt(at + 1) === '/')
    )
  }

  #describe(): string {
    if (this.isAtEnd) return 'the end of the text'
    if (this.seesNewline) return 'the end of the line'
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    if (isReserved(character)) return `'${character}', which is reserved: quote it`
    return `'${character}'`
  }
}
