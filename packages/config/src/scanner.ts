import { ConfigSyntaxError } from './config-error.js'
import type { Origin } from './syntax-tree.js'

const TRIPLE = '"""'

/** White space of HOCON other than a newline: ASCII, Unicode's separators and the byte order mark. */
const BLANK = '\\t\\v\\f\\r\x1c-\x1f\\p{Z}\\ufeff'

const BLANKS = new RegExp(`[${BLANK}]*`, 'uy')

/** The characters of unquoted strings, apart from `//`, which begins a comment. */
const UNQUOTED = new RegExp(`[^${BLANK}\\n$"{}[\\]:=,+#\`^?!@*&\\\\]*`, 'uy')

const CONTROLS = '\x00-\x1f'

/** The characters of quoted strings that are not escaped. */
const UNESCAPED = new RegExp(`[^"\\\\${CONTROLS}]*`, 'y')

/**
 * A number with a plus sign in its exponent, alone or directly after the words `true`, `false` and `null`. It is the only
 * unquoted value that contains a forbidden character.
 */
const EXPONENT = /(?:true|false|null)*-?(?:0|[1-9]\d*)(?:\.\d+)?[eE]\+\d+(?![\deE.+-])/y

/** An escape sequence of JSON. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

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
    if (!this.sees(word)) return false
    UNQUOTED.lastIndex = this.#at + word.length
    const [rest = ''] = UNQUOTED.exec(this.#text) ?? []
    return rest === '' || rest.startsWith('//')
  }

  /** Consumes and returns white space up to the end of the line. */
  blanks(): string {
    return this.#takeMatch(BLANKS)
  }

  /** Consumes white space, newlines and comments. Returns whether there was a newline. */
  skip(): boolean {
    const line = this.#line
    for (;;) {
      this.blanks()
      if (this.next === '\n') {
        this.#at += 1
        this.#line += 1
        this.#lineStart = this.#at
      } else if (this.next === '#' || this.sees('//')) {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end < 0 ? this.#text.length : end
      } else {
        return this.#line > line
      }
    }
  }

  /** Consumes and returns the unquoted string that begins here. Returns an empty string if there is none. */
  unquoted(): string {
    const start = this.#at
    this.#takeMatch(EXPONENT)
    const word = this.#takeMatch(UNQUOTED)
    const comment = word.indexOf('//')
    if (comment >= 0) this.#at -= word.length - comment
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
    for (;;) {
      pieces.push(this.#takeMatch(UNESCAPED))
      if (this.take('"')) return pieces.join('')
      if (this.isAtEnd || this.next === '\n') {
        throw new ConfigSyntaxError('this string has no end: expected " on the same line', origin)
      }
      if (this.next !== '\\') {
        const shown = `\\u${this.next.charCodeAt(0).toString(16).padStart(4, '0')}`
        throw new ConfigSyntaxError(`a string contains a control character: write it as ${shown}`, this.origin)
      }
      pieces.push(this.#escape())
    }
  }

  #escape(): string {
    const sequence = this.#takeMatch(ESCAPE)
    if (sequence !== '') return JSON.parse(`"${sequence}"`) as string
    throw new ConfigSyntaxError(
      'this is not an escape sequence of JSON: expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t, or \\u and four hexadecimal digits',
      this.origin,
    )
  }

  /** Consumes and returns the match of a sticky pattern. Returns an empty string if there is none. */
  #takeMatch(pattern: RegExp): string {
    const start = this.#at
    pattern.lastIndex = start
    // `exec` would make an array of each match.
    if (!pattern.test(this.#text)) return ''
    this.#at = pattern.lastIndex
    return this.#text.slice(start, this.#at)
  }

  #describe(): string {
    if (this.isAtEnd) return 'the end of the text'
    if (this.next === '\n') return 'the end of the line'
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    if ('`^?!@*&\\+$'.includes(character)) return `'${character}', which is reserved: quote it`
    return `'${character}'`
  }
}
