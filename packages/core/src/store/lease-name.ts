import { LeaseNameError } from '../errors/lease-name-error.js'

const MAX_BYTES = 1024

/**
 * Throws a `LeaseNameError` unless `name` is a non-empty, well-formed Unicode string of at most 1,024 bytes of UTF-8.
 * Names are compared code point by code point: no case folding, no normalisation.
 */
export function checkLeaseName(name: unknown): asserts name is string {
  checkIdentifier('lease name', name)
}

/** The same rule for owners. */
export function checkOwner(owner: unknown): asserts owner is string {
  checkIdentifier('owner', owner)
}

/** The same rule for other texts that identify something. `what`: for the error. */
export function checkIdentifier(what: string, text: unknown): asserts text is string {
  if (typeof text !== 'string') throw new LeaseNameError(`the ${what} must be a string, not ${typeof text}`)
  if (text === '') throw new LeaseNameError(`the ${what} must not be empty`)
  // A character is at least one byte, so a string longer than the bound need not be measured.
  const bytes = text.length > MAX_BYTES ? text.length : Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    throw new LeaseNameError(`the ${what} must be at most ${MAX_BYTES} bytes of UTF-8, not ${bytes} or more`)
  }
  // Half a surrogate pair has no UTF-8: two different names would become the same bytes in a store.
  if (!text.isWellFormed()) throw new LeaseNameError(`the ${what} must be well-formed Unicode: it has a lone surrogate`)
}

/** How many characters the hash suffix of a shortened name has, without its separator. */
const HASH_LENGTH = 32

/** The keys that a store accepts. */
export interface NameAlphabet {
  /** Whether a byte of the name's UTF-8 may stand for itself; never true of `escape`. */
  readonly allows: (character: string) => boolean
  /** The character that starts an escape, followed by two lower-case hex digits. */
  readonly escape: string
  readonly maxLength: number
}

/**
 * Maps a lease name into a store's alphabet, injectively: bytes outside it are escaped, and a result that is too long is
 * shortened and ends in a hash of the whole name. Two names never share a key (but by a collision of SHA-256 cut to
 * 128 bits).
 */
export function encodeLeaseName(name: string, alphabet: NameAlphabet): string {
  const { allows, escape: mark, maxLength } = alphabet
  const bytes = Buffer.from(name)
  let encoded = ''
  // Heartbeats encode names, so it must be fast: one string for each run of plain characters, not for each character.
  let run = 0
  for (let place = 0; place < bytes.length; place += 1) {
    const byte = bytes.readUInt8(place)
    const character = String.fromCharCode(byte)
    if (byte < 0x80 && character !== mark && allows(character)) continue
    encoded += bytes.toString('latin1', run, place) + mark + byte.toString(16).padStart(2, '0')
    run = place + 1
  }
  encoded += bytes.toString('latin1', run)
  if (encoded.length <= maxLength) return encoded
  // Two escapes in a row never come out of the loop above, so that no short name ends like a shortened one.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)
  const suffix = mark + mark + hash
  return encoded.slice(0, maxLength - suffix.length) + suffix
}

/** The lease name whose key this is; `undefined` if the name was shortened, or the key is not that of a name. */
export function decodeLeaseName(key: string, alphabet: NameAlphabet): string | undefined {
  try {
    const name = decodeURIComponent(key.replaceAll(alphabet.escape, '%'))
    return encodeLeaseName(name, alphabet) === key ? name : undefined
  } catch {
    return undefined
  }
}
