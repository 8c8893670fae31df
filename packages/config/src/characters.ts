const TAB = 0x09
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** White space of HOCON beyond ASCII: Unicode's separators, and the byte order mark. */
const separators: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029,
  0x202f, 0x205f, 0x3000, 0xfeff,
])

/** What may not stand in an unquoted string, beside white space and `//`. */
const forbidden: ReadonlySet<number> = new Set([...'$"{}[]:=,+#`^?!@*&\\'].map((character) => character.charCodeAt(0)))

/** A newline is `\n` alone, whatever else Unicode takes for one. */
export function isNewline(code: number): boolean {
  return code === NEWLINE
}

/** White space, newlines left out. */
export function isBlank(code: number): boolean {
  if (code > 0x7f) return separators.has(code)
  return code === SPACE || code === TAB || (code > NEWLINE && code <= CARRIAGE_RETURN) || (code >= 0x1c && code <= 0x1f)
}

/** Which characters of ASCII may stand in an unquoted string. */
const unquotedAscii: readonly boolean[] = Array.from(
  { length: 0x80 },
  (_, code) => !forbidden.has(code) && !isBlank(code) && code !== NEWLINE,
)

/**
 * Whether the character may stand in an unquoted string (`NaN`, the end of a text, may not); two slashes may not, which
 * is for the caller to see.
 */
export function isUnquoted(code: number): boolean {
  return unquotedAscii[code] ?? (code > 0x7f && !separators.has(code))
}

/** One of the characters that have no meaning, yet are kept for later versions of the language. */
export function isReserved(character: string): boolean {
  return '`^?!@*&\\+$'.includes(character)
}
