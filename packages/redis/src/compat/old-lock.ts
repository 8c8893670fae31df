import { checkOptionNames } from '@leasehold/core/store-kit'
import { hashTag, keySlot } from '../client/key-slot.js'
import { misconfigured } from '../redis-options.js'
import type { OldRedisLibrary, RedisCompat } from './redis-compat.js'

/** The key that each library uses by default. */
const DEFAULT_KEYS: Readonly<Record<OldRedisLibrary, (leaseName: string) => string>> = {
  // redlock 5: the resource itself.
  redlock: (leaseName: string) => leaseName,
  // redis-semaphore 5: the classes Mutex and RedlockMutex.
  'redis-semaphore': (leaseName: string) => `mutex:${leaseName}`,
  // ShedLock 7: RedisLockProvider with its default environment and prefix.
  'shedlock-redis': (leaseName: string) => `job-lock:default:${leaseName}`,
}

/** The keys of the lock that a store holds beside its leases. */
export class OldLock {
  readonly library: OldRedisLibrary
  readonly #key: (leaseName: string) => string
  readonly #keyPrefix: string
  readonly #clustered: boolean

  /** Throws a `LeaseConfigurationError` for an unknown library or option. */
  constructor(
    compat: OldRedisLibrary | RedisCompat,
    client: { readonly keyPrefix: string; readonly clustered: boolean },
  ) {
    const given: RedisCompat = typeof compat === 'string' ? { library: compat } : compat
    if (typeof given !== 'object' || given === null) throw unknownLibrary(compat)
    checkOptionNames<RedisCompat>('compat', given, { library: true, key: true }, { store: 'redis' })
    if (!Object.hasOwn(DEFAULT_KEYS, given.library)) throw unknownLibrary(given.library)
    const { library, key = DEFAULT_KEYS[library] } = given
    if (typeof key !== 'function') {
      throw misconfigured('key of compat must be a function that returns the key of a lease name')
    }
    this.library = library
    this.#key = key
    this.#keyPrefix = client.keyPrefix
    this.#clustered = client.clustered
  }

  /**
   * The key for a lease. Throws a `LeaseConfigurationError` if the user's function fails, or if no script could change it
   * together with the lease.
   */
  keyOf(leaseName: string, leaseKey: string): string {
    const key = this.#keyPrefix + this.#ownKeyOf(leaseName)
    if (key === leaseKey) {
      throw misconfigured(
        `the lease '${leaseName}' has the key '${key}' of ${this.library} itself: give another prefix`,
      )
    }
    if (this.#clustered && keySlot(key) !== keySlot(leaseKey)) {
      throw misconfigured(
        `in Redis Cluster, the key '${key}' of ${this.library} and the key '${leaseKey}' of the lease '${leaseName}' are in ` +
          `different slots, and only keys of one slot change together: give this lease a store with the prefix ` +
          `'leasehold:{${hashTag(key)}}:'`,
      )
    }
    return key
  }

  #ownKeyOf(leaseName: string): string {
    let key: unknown
    try {
      key = this.#key(leaseName)
    } catch (cause) {
      throw misconfigured(`key of compat threw for the lease '${leaseName}'`, cause)
    }
    if (typeof key === 'string' && key !== '') return key
    throw misconfigured(`key of compat must return the key of the lease '${leaseName}', not ${JSON.stringify(key)}`)
  }
}

function unknownLibrary(given: unknown): Error {
  return misconfigured(`compat must be one of ${Object.keys(DEFAULT_KEYS).join(', ')}, not ${JSON.stringify(given)}`)
}
