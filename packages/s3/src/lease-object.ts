import type { CasRecord } from '@leasehold/core/store'
import { decodeLeaseName, encodeLeaseName, type NameAlphabet, recordIn, recordText } from '@leasehold/core/store-kit'
import { misconfigured } from './failure-of.js'

/** The characters that mean nothing in a path, an address or the XML of a listing. */
const inKeys: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[A-Za-z0-9_-]/.test(c), escape: '~' }

/** Keys have up to 1,024 bytes. */
const LONGEST_KEY = 1_024

/** The end of a shortened name, in characters: two escapes and a hash. See `encodeLeaseName`. */
const HASH_SUFFIX = 34

/** A prefix has to leave room for more than the hash of a name. */
const LONGEST_PREFIX = 512

/** How lease names become keys of objects. Two names never share one. */
export class LeaseKeys {
  readonly #prefix: string
  readonly #alphabet: NameAlphabet

  /** Throws a `LeaseConfigurationError` for a prefix that an address would change. */
  constructor(prefix: string) {
    const isPlain = /^(?!\/)[\w!.*'()/ -]*$/.test(prefix) && !/(^|\/)\.{1,2}(\/|$)|\/\//.test(prefix)
    if (!isPlain || prefix.length > LONGEST_PREFIX) {
      throw misconfigured(
        `the prefix '${prefix}' is not valid: up to ${LONGEST_PREFIX} letters, digits and !-_.*'() in parts that are parted ` +
          "by one slash, none of them '.' or '..', such as leases/",
      )
    }
    this.#prefix = prefix
    this.#alphabet = { ...inKeys, maxLength: LONGEST_KEY - prefix.length }
  }

  of(leaseName: string): string {
    return this.#prefix + encodeLeaseName(leaseName, this.#alphabet)
  }

  /** What the keys of all names with this prefix begin with, those of shortened names too. */
  startOf(namePrefix: string): string {
    const encoded = encodeLeaseName(namePrefix, { ...this.#alphabet, maxLength: Number.POSITIVE_INFINITY })
    return this.#prefix + encoded.slice(0, this.#alphabet.maxLength - HASH_SUFFIX)
  }

  /** Whether the key can be that of a lease. */
  isLease(key: string): boolean {
    const rest = key.slice(this.#prefix.length)
    return decodeLeaseName(rest, this.#alphabet) !== undefined || rest.includes('~~')
  }
}

/**
 * The content of a lease's object. No two writes are equal, not even of the same record: S3 gives equal contents the same
 * ETag, so that a write under an old one would be accepted.
 */
export function toContent(name: string, record: CasRecord): string {
  const named = { name, write: crypto.randomUUID(), ...record }
  return recordText(named)
}

/** The name and the record in an object; core refuses a record of another program. */
export function inContent(text: string): { readonly name: string | undefined; readonly record: CasRecord } {
  const {
    name,
    write: _,
    ...record
  } = recordIn(text) as CasRecord & { readonly name?: unknown; readonly write?: unknown }
  return { name: typeof name === 'string' ? name : undefined, record }
}
