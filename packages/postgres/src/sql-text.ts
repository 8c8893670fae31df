/** PostgreSQL has no texts with a NUL in them: SUB escapes it, and itself. */
const SUB = '\u001a'

/** Returns a text that a column can keep; ordinary texts stay as they are. Prefixes of texts become prefixes of results. */
export function toColumn(text: string): string {
  if (!text.includes('\0') && !text.includes(SUB)) return text
  return text.replaceAll(SUB, `${SUB}S`).replaceAll('\0', `${SUB}0`)
}

export function fromColumn(text: string): string {
  return text.includes(SUB) ? text.replaceAll(`${SUB}0`, '\0').replaceAll(`${SUB}S`, SUB) : text
}

/**
 * A value as a literal of SQL with its JSON. It consists of ASCII, and of quotes and backslashes that are doubled, so that
 * it means the same under all settings of a server and encodings of a client. It has no question mark, which libraries such as
 * Knex take for a parameter, also within a literal.
 *
 * Statements have no parameters: a statement with parameters takes two round trips in postgres.js unless it is prepared, and
 * a prepared one belongs to a session.
 */
export function jsonLiteral(value: unknown): string {
  return jsonTextLiteral(JSON.stringify(value))
}

/** As {@link jsonLiteral}, for a text that is JSON already. */
export function jsonTextLiteral(json: string): string {
  const ascii = json.replaceAll(
    /[?\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `E'${ascii.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** A text as a literal of SQL. It must be one that a column can keep: see {@link toColumn}. */
export function textLiteral(text: string): string {
  return `(${jsonLiteral([text])}::jsonb ->> 0)`
}
