/** A word or a number as it is; of a value that has parts only its kind, because a part may be a secret. */
export function shownValue(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function' ? kindOf(value) : String(value)
}

/** The kind of a value, with its article. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || value === undefined) return String(value)
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
