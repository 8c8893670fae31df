/** The text of a word or a number. A value that has parts is shown as its kind only, because a part may be a secret. */
export function shownValue(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function' ? kindOf(value) : String(value)
}

/**
 * A text of others, such as an owner in a record, in one line. Its control characters are escaped, because they could forge
 * lines of a log, or drive a terminal.
 */
export function shownText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`)
}

/** A message with texts of others, which may have several lines: all other control characters are escaped. */
export function shownLines(message: string): string {
  return message.includes('\n') ? message.split('\n').map(shownText).join('\n') : shownText(message)
}

/** The kind of a value, with its article. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || value === undefined) return String(value)
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The text of anything that was thrown; some values, such as `Object.create(null)`, have none. */
export function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown)
  } catch {
    return `${kindOf(thrown)} without a text was thrown`
  }
}
