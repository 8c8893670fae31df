/** A new grant id, as one flat string. */
export function createGrantId(): string {
  // The global loads its module when it is first used; `node:crypto` would be loaded with this package.
  const id = crypto.randomUUID()
  // Node concatenates a UUID from 20 parts, and V8 keeps them all, over 400 bytes, until a character is read.
  id.charCodeAt(0)
  return id
}
