import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { checkFault, checkIdentifier, faultOfFlag, reasonOf } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { checkOptionNames, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { type RedisClient, RedisGuard } from '@leasehold/redis'
import { isDenied } from '@leasehold/redis/internal'
import type { EntityState } from '../entity-state.js'
import { EvictionCheck } from './eviction-check.js'
import { FencedState, STATE_OPTIONS, type StateOptions } from './fenced-state.js'

/** Durations are milliseconds. */
export interface RedisStateOptions extends StateOptions {
  /** Begins all keys; `leasehold:entity:` unless given. It has no braces: each entity has a slot of a cluster of its own. */
  readonly prefix?: string | undefined
  /**
   * Whether the server is asked before the first load if it evicts entities, in one round trip. On unless given. A server that
   * does is refused with a `LeaseStoreUnfitError`.
   */
  readonly probe?: boolean | undefined
}

const PREFIX = 'leasehold:entity:'

/** The colon ends the name of the region; braces would end the hash tag of the guard's key. Three characters for each byte. */
const alphabet: NameAlphabet = {
  allows: (character) => character > ' ' && character <= '~' && !'{}:"\'\\'.includes(character),
  escape: '%',
  maxLength: 4_096,
}

/**
 * Keeps each entity as JSON in one key, `leasehold:entity:<region>:<id>`, and its fencing token in another key of the same
 * slot, as `RedisGuard` does. `client`: of one of the libraries that `RedisLeaseStore` takes. Neither key has an expiry.
 *
 * Give it a client of another database, or another server, than that of the leases: `new Redis(url, { db: 1 })`. A region
 * lists its leases in every round, and on Redis a listing looks at all keys of the database. A server that must not lose entities needs `appendonly yes`, and a `maxmemory-policy` that evicts no such keys.
 */
export function redisState(client: RedisClient, options: RedisStateOptions = {}): EntityState {
  checkOptionNames<RedisStateOptions>(
    'redisState',
    options,
    { ...STATE_OPTIONS, prefix: true, probe: true },
    { store: 'redis' },
  )
  const { prefix = PREFIX, probe = true, ...shared } = options
  checkFault(faultOfFlag('probe', probe), { store: 'redis' })
  if (typeof prefix !== 'string' || /[{}\s]/.test(prefix)) {
    const message = `prefix must be a text without braces and white space, not ${JSON.stringify(prefix)}`
    throw new LeaseConfigurationError(message, { store: 'redis' })
  }
  return new RedisState(
    { guard: new RedisGuard(client), eviction: new EvictionCheck(client, probe), prefix },
    '',
    shared,
  )
}

/** The part that the states of all regions share. */
interface Keys {
  readonly guard: RedisGuard
  readonly eviction: EvictionCheck
  readonly prefix: string
}

class RedisState extends FencedState {
  readonly #keys: Keys
  readonly #region: string

  constructor(keys: Keys, region: string, options: StateOptions) {
    super('redis', options)
    this.#keys = keys
    this.#region = region
  }

  forRegion(name: string): EntityState {
    checkIdentifier('name of a region', name)
    return new RedisState(this.#keys, name, this.options)
  }

  protected async read(id: string, token: bigint, { signal }: StoreCall): Promise<string | undefined> {
    const { guard, eviction } = this.#keys
    const key = this.#keyOf(id)
    if (eviction.isDue) await eviction.require(key)
    const text = await guard.transact(key, token, ['GET'], { signal })
    return text === null ? undefined : String(text)
  }

  protected async write(id: string, text: string, token: bigint, { signal }: StoreCall): Promise<void> {
    await this.#keys.guard.write(this.#keyOf(id), token, text, { signal })
  }

  protected failureOf(action: string, id: string, error: unknown): unknown {
    if (error instanceof LeaseError && error.code !== 'unavailable') return error
    return redisFailure(action, id, error)
  }

  #keyOf(id: string): string {
    return `${this.#keys.prefix}${encodeLeaseName(this.#region, alphabet)}:${encodeLeaseName(id, alphabet)}`
  }
}

function redisFailure(action: string, id: string, error: unknown): LeaseError {
  const message = reasonOf(error)
  const failed = `${action} failed in Redis: ${message}`
  const details = { leaseName: id, store: 'redis', cause: error }
  if (/NOAUTH|WRONGPASS|invalid password|invalid username-password|Client sent AUTH/.test(message)) {
    return new LeaseUnauthorisedError(`${failed}: check the username and the password of the client`, details)
  }
  if (isDenied(message)) {
    const rights = 'the user needs +eval +get +set +del, and the keys leasehold:entity:* and leasehold:fence:*'
    return new LeaseUnauthorisedError(`${failed}: ${rights}`, details)
  }
  if (message.includes('WRONGTYPE')) {
    const help = 'the key of the entity holds other data: give the state a prefix of its own, or delete the key'
    return new LeaseConfigurationError(`${failed}: ${help}`, details)
  }
  if (message.includes('OOM')) {
    return new LeaseUnavailableError(`${failed}: raise maxmemory of the server, or remove data`, details)
  }
  return new LeaseUnavailableError(`${failed}: check that the server can be reached and writes`, details)
}
