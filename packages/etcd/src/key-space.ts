import { checkLeaseName } from '@leasehold/core/store'
import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'

/** Escapes what would need quotes in a shell, and the slash, which ends the name in a key. */
const alphabet: NameAlphabet = {
  allows: (character) => /^[\w.:@=+,~-]$/.test(character),
  escape: '%',
  maxLength: 4_096,
}

/** A range of keys, from `key` to below `rangeEnd`. */
export interface KeyRange {
  readonly key: Buffer
  readonly rangeEnd: Buffer
}

/**
 * The keys of a name: its record is `<prefix><name>`, and its holder and its waiters are below `<prefix><name>/`, as in the
 * locks of etcd's own clients.
 */
export class KeySpace {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The key of the record. Throws a `LeaseNameError` if the name is invalid. Two names never share a key. */
  recordOf(name: string): Buffer {
    return Buffer.from(this.#of(name))
  }

  /** The keys of the holder and of the waiters. */
  claimsOf(name: string): KeyRange {
    const key = this.#of(name)
    // The slash, and the character after it.
    return { key: Buffer.from(`${key}/`), rangeEnd: Buffer.from(`${key}0`) }
  }

  /** The key with which a grant id stands in the queue. */
  claimOf(name: string, grantId: string): Buffer {
    return Buffer.from(`${this.#of(name)}/${encodeURIComponent(grantId)}`)
  }

  /** All keys of all names with this prefix, and few others. */
  startingWith(namePrefix: string): KeyRange {
    // Half a surrogate pair has no encoding.
    const key = Buffer.from(this.#prefix + (namePrefix.isWellFormed() ? encodeLeaseName(namePrefix, alphabet) : ''))
    return { key, rangeEnd: afterPrefix(key) }
  }

  /** The name whose record or claim this is, or `undefined` if there is none. */
  nameOf(key: Buffer): { readonly name: string; readonly isClaim: boolean } | undefined {
    const rest = key.toString().slice(this.#prefix.length)
    const slash = rest.indexOf('/')
    const name = decodeLeaseName(slash < 0 ? rest : rest.slice(0, slash), alphabet)
    return name === undefined || name === '' ? undefined : { name, isClaim: slash >= 0 }
  }

  #of(name: string): string {
    checkLeaseName(name)
    return this.#prefix + encodeLeaseName(name, alphabet)
  }
}

/** The first key after all keys with this prefix; a single zero, which stands for no end, if there is none. */
function afterPrefix(prefix: Buffer): Buffer {
  const last = prefix.at(-1)
  // The last byte is one of UTF-8, so it is never the largest one.
  return last === undefined ? Buffer.from([0]) : Buffer.from([...prefix.subarray(0, -1), last + 1])
}
