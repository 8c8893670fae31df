const TAB = 0x09
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** The non-ASCII white space of HOCON: Unicode's separators and the byte order mark. */
const separators: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029,
  0x202f, 0x205f, 0x3000, 0xfeff,
])

/** The characters that HOCON forbids in unquoted strings, apart from white space and `//`. */
const forbidden: ReadonlySet<number> = new Set([...'$"{}[]:=,+#`^?!@*&\\'].map((character) => character.charCodeAt(0)))

/** HOCON's only newline is `\n`. Other newlines of Unicode are white space. */
export function isNewline(code: number): boolean {
  return code === NEWLINE
}

/** Whether the character is white space other than a newline. */
export function isBlank(code: number): boolean {
  if (code > 0x7f) return separators.has(code)
  return code === SPACE || code === TAB || (code > NEWLINE && code <= CARRIAGE_RETURN) || (code >= 0x1c && code <= 0x1f)
}

/** For each ASCII character: whether it is allowed in an unquoted string. */
const unquotedAscii: readonly boolean[] = Array.from(
  { length: 0x80 },
  (_, code) => !forbidden.has(code) && !isBlank(code) && code !== NEWLINE,
)

/**
 * Whether the character is allowed in an unquoted string. `NaN` (the end of a text) is not. The caller must check for
 * `//`, which begins a comment.
 */
export function isUnquoted(code: number): boolean {
  return unquotedAscii[code] ?? (code > 0x7f && !separators.has(code))
}

/** Whether HOCON reserves the character. Most reserved characters have no meaning yet. */
export function isReserved(character: string): boolean {
  return '`^?!@*&\\+$'.includes(character)
}
