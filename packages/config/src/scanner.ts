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

/** What a number begins with, alone or behind words that are values by themselves. */
const NUMERIC = /(?:true|false|null)*([-\d][\deE.+-]*)/y

/** Reads the words of a text one after the other, and knows in which line it is. */
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

  /** The next character, or nothing at the end. */
  get next(): string {
    return this.#text.charAt(this.#at)
  }

  get origin(): Origin {
    return { source: this.#source, line: this.#line, column: this.#at - this.#lineStart + 1 }
  }

  /** Whether these characters come next. */
  sees(characters: string): boolean {
    return this.#text.startsWith(characters, this.#at)
  }

  /** Takes these characters if they come next. */
  take(characters: string): boolean {
    if (!this.sees(characters)) return false
    this.#at += characters.length
    return true
  }

  /** Whether this unquoted word comes next, and does not go on. */
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

  /** Takes white space of the line, and returns it. */
  blanks(): string {
    const start = this.#at
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  /** Takes white space, newlines and comments; tells whether there was a newline. */
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

  /** Takes an unquoted string, which is there. */
  unquoted(): string {
    const start = this.#at
    NUMERIC.lastIndex = start
    const number = NUMERIC.exec(this.#text)?.[1] ?? ''
    // The plus of an exponent is the one forbidden character that an unquoted value may have.
    if (number.includes('+') && isNumber(number)) this.#at = NUMERIC.lastIndex
    while (this.#isUnquotedAt(this.#at)) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  /** Takes a quoted string, of one quote or three, which begins here. */
  quoted(): string {
    return this.sees(TRIPLE) ? this.#multiLine() : this.#singleLine()
  }

  /** The error for what comes next, where `expected` should. */
  unexpected(expected: string): ConfigSyntaxError {
    return new ConfigSyntaxError(`expected ${expected}, found ${this.#describe()}`, this.origin)
  }

  #multiLine(): string {
    const { origin } = this
    const start = this.#at + TRIPLE.length
    let end = this.#text.indexOf(TRIPLE, start)
    if (end < 0) throw new ConfigSyntaxError('this string in three quotes has no end: expected """', origin)
    // Quotes beyond the three that end it belong to the string.
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
        throw new ConfigSyntaxError('this string has no end: expected " in the same line', origin)
      }
      if (code < 0x20) {
        const shown = `\\u${code.toString(16).padStart(4, '0')}`
        throw new ConfigSyntaxError(`a control character in a string: expected it to be written ${shown}`, this.origin)
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
        'not an escape of JSON: expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t, or \\u and four hexadecimal digits',
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
    if (isReserved(character)) return `'${character}', which is reserved: put it in quotes`
    return `'${character}'`
  }
}
