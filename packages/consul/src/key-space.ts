import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { misconfigured } from './consul-options.js'

/** Longer than any encoded name. */
const LONGEST = 4_096

/** Slashes and dots as they are: a lease named `deploy/.lock` has the key that `consul lock deploy` uses. */
const USUAL: NameAlphabet = { allows: (one) => /[\w.\-~:@/]/.test(one), escape: '=', maxLength: LONGEST }

/** For names that are no clean path: agents redirect such paths. */
const STRICT: NameAlphabet = { ...USUAL, allows: (one) => /[\w\-~:@]/.test(one) }

/** The keys of the leases. */
export class KeySpace {
  readonly prefix: string

  /** Throws a `LeaseConfigurationError` if the prefix is not the beginning of a clean path. */
  constructor(prefix: string) {
    const bare = prefix.replace(/\/$/, '')
    if (bare !== '' && (!isClean(bare) || !/^[\w.\-~:@/]*$/.test(bare))) {
      throw misconfigured(
        `prefix must be like "leasehold/": letters, digits, and -_.~:@/ between them, not '${prefix}'`,
      )
    }
    this.prefix = prefix
  }

  keyOf(name: string): string {
    return this.prefix + encoded(name)
  }

  /** `undefined` if the key is not that of a lease. */
  nameOf(key: string): string | undefined {
    if (!key.startsWith(this.prefix)) return undefined
    const name =
      decodeLeaseName(key.slice(this.prefix.length), USUAL) ?? decodeLeaseName(key.slice(this.prefix.length), STRICT)
    return name !== undefined && name !== '' && this.keyOf(name) === key ? name : undefined
  }
}

/** The path of a key in the HTTP API. */
export function pathOf(key: string): string {
  return `/kv/${key.split('/').map(encodeURIComponent).join('/')}`
}

/** A name with the strict alphabet has escapes that the usual one never writes, so no two names share a key. */
function encoded(name: string): string {
  const usual = encodeLeaseName(name, USUAL)
  return isClean(usual) ? usual : encodeLeaseName(name, STRICT)
}

function isClean(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}
