import { randomUUID } from 'node:crypto'

/** A new grant id, as one flat string. */
export function createGrantId(): string {
  const id = randomUUID()
  // Node concatenates a UUID from 20 parts, and V8 keeps them all, over 400 bytes, until a character is read.
  id.charCodeAt(0)
  return id
}
