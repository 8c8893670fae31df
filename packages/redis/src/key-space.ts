import { checkLeaseName } from '@leasehold/core/store'
import { encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { misconfigured } from './redis-options.js'

/** Escapes the characters that could break a hash tag, a terminal or a script. Longest: three characters for each byte. */
const alphabet: NameAlphabet = {
  allows: (character) => character > ' ' && character <= '~' && !'{}"\'\\'.includes(character),
  escape: '%',
  maxLength: 4_096,
}

const plain = /^[\w.:/@#=+-]{1,1000}$/

/** Maps each lease name to its key. */
export class KeySpace {
  /** Whether all keys are in one slot of a cluster. */
  readonly areTogether: boolean
  /** The key of the floor of a member of a quorum. No name has it: in the key of a name, two hex digits follow a `%`. */
  readonly floorKey: string
  readonly #prefix: string
  readonly #suffix: string

  /**
   * With a hash tag in the prefix, such as `{leases}:`, all leases share a slot of a cluster; without one, each name is a
   * tag. Throws a `LeaseConfigurationError` if the prefix has half a tag, or white space.
   */
  constructor(prefix: string) {
    if (/\s/.test(prefix)) {
      throw misconfigured(`the prefix '${prefix}' has white space: remove it, because names of channels cannot have it`)
    }
    const braces = prefix.replaceAll(/[^{}]/g, '')
    if (braces !== '' && (braces !== '{}' || prefix.includes('{}'))) {
      throw misconfigured(
        `the prefix '${prefix}' has braces that are not a hash tag: use one as in 'app:{leases}:', or none`,
      )
    }
    this.floorKey = `${prefix}%floor`
    this.areTogether = braces !== ''
    this.#prefix = braces === '' ? `${prefix}{` : prefix
    this.#suffix = braces === '' ? '}' : ''
  }

  /** Throws a `LeaseNameError` if the name is invalid. Two names never share a key. */
  keyOf(name: string): string {
    if (plain.test(name)) return this.#prefix + name + this.#suffix
    checkLeaseName(name)
    return this.#prefix + encodeLeaseName(name, alphabet) + this.#suffix
  }

  /** A pattern for SCAN that matches the keys of all names with this prefix, and few others. */
  patternOf(namePrefix: string): string {
    // Half a surrogate pair has no encoding.
    const encoded = namePrefix.isWellFormed() ? encodeLeaseName(namePrefix, alphabet) : ''
    return `${(this.#prefix + encoded).replaceAll(/[*?[\]\\^-]/g, '\\$&')}*`
  }

  /** The name whose key this is, or `undefined` if there is none. */
  nameOf(key: string): string | undefined {
    if (!key.startsWith(this.#prefix) || !key.endsWith(this.#suffix)) return undefined
    try {
      const name = decodeURIComponent(key.slice(this.#prefix.length, key.length - this.#suffix.length))
      return this.keyOf(name) === key ? name : undefined
    } catch {
      return undefined
    }
  }
}
