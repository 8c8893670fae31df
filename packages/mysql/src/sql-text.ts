/**
 * The bytes of a text as a literal of SQL, for a binary column. Digits only: it means the same under all values of `sql_mode`
 * and in all character sets of a connection. The quotes of a client do not, under `NO_BACKSLASH_ESCAPES`.
 */
export function bytesLiteral(text: string): string {
  return `X'${Buffer.from(text).toString('hex')}'`
}

/** As {@link bytesLiteral}, for a column of text; `null` without a text. */
export function textLiteral(text: string | null): string {
  return text === null ? 'null' : `_utf8mb4 ${bytesLiteral(text)}`
}

/** A name of a column. */
export function columnName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}
