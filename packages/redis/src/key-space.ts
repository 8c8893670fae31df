import { checkLeaseName, encodeLeaseName, LeaseConfigurationError, type NameAlphabet } from '@leasehold/core'

/** What a hash tag, a line of an operator's terminal or a script could stumble over is escaped. */
const alphabet: NameAlphabet = {
  allows: (character) => character > ' ' && character <= '~' && !/[{}"'\\]/.test(character),
  escape: '%',
  maxLength: 4_096,
}

/** What needs no escape. */
const plain = /^[\w.:/@#=+-]{1,1000}$/

/** The keys of leases: one each. */
export class KeySpace {
  /** Whether all keys are in one slot of a cluster. */
  readonly areTogether: boolean
  /** That of the floor of a member of a quorum. No name has it: in the key of a name, `%` is followed by two hex digits. */
  readonly floorKey: string
  readonly #prefix: string
  readonly #suffix: string

  /**
   * With a hash tag in the prefix, such as `{leases}:`, all leases share a slot of a cluster; without one, each name is a
   * tag. Throws a `LeaseConfigurationError` where the prefix has half a tag, or white space.
   */
  constructor(prefix: string) {
    if (/\s/.test(prefix)) {
      const message = `the prefix '${prefix}' has white space, which the names of channels cannot have: leave it out`
      throw new LeaseConfigurationError(message, { store: 'redis' })
    }
    const braces = prefix.replaceAll(/[^{}]/g, '')
    if (braces !== '' && (braces !== '{}' || prefix.includes('{}'))) {
      throw new LeaseConfigurationError(
        `the prefix '${prefix}' has braces that are no hash tag: write one as in 'app:{leases}:', or none`,
        { store: 'redis' },
      )
    }
    this.floorKey = `${prefix}%floor`
    this.areTogether = braces !== ''
    this.#prefix = braces === '' ? `${prefix}{` : prefix
    this.#suffix = braces === '' ? '}' : ''
  }

  /** Throws a `LeaseNameError` where the name is none. Two names never share a key. */
  keyOf(name: string): string {
    if (plain.test(name)) return this.#prefix + name + this.#suffix
    checkLeaseName(name)
    return this.#prefix + encodeLeaseName(name, alphabet) + this.#suffix
  }
}
