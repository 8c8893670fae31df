/**
 * A text for any value, for messages. `String` throws for some: an object without a prototype, an error whose message is
 * a getter that throws.
 */
export function describeValue(value: unknown): string {
  try {
    return value instanceof Error ? `${value.message}` : String(value)
  } catch {
    return `a value of type ${typeof value} that has no text`
  }
}

/** What kind of value it is, for messages about arguments; the value itself only where it is short and tells no secret. */
export function shown(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
