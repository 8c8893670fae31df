import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { checkIdentifier, reasonOf } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { checkOptionNames, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { type RedisClient, RedisGuard } from '@leasehold/redis'
import type { EntityState } from '../entity-state.js'
import { FencedState, STATE_OPTIONS, type StateOptions } from './fenced-state.js'

/** Durations are milliseconds. */
export interface RedisStateOptions extends StateOptions {
  /** Begins all keys; `leasehold:entity:` unless given. It has no braces: each entity has a slot of a cluster of its own. */
  readonly prefix?: string | undefined
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
 * slot, as `RedisGuard` does. `client`: of ioredis or node-redis, for one server, Sentinel or Cluster. Neither key has an
 * expiry: `maxmemory-policy` must be `noeviction`, and a server that must not lose entities needs `appendonly yes`.
 */
export function redisState(client: RedisClient, options: RedisStateOptions = {}): EntityState {
  checkOptionNames<RedisStateOptions>('redisState', options, { ...STATE_OPTIONS, prefix: true }, { store: 'redis' })
  const { prefix = PREFIX, ...shared } = options
  if (typeof prefix !== 'string' || /[{}\s]/.test(prefix)) {
    const message = `prefix must be a text without braces and white space, not ${JSON.stringify(prefix)}`
    throw new LeaseConfigurationError(message, { store: 'redis' })
  }
  return new RedisState(new RedisGuard(client), prefix, '', shared)
}

class RedisState extends FencedState {
  readonly #guard: RedisGuard
  readonly #prefix: string
  readonly #region: string

  constructor(guard: RedisGuard, prefix: string, region: string, options: StateOptions) {
    super('redis', options)
    this.#guard = guard
    this.#prefix = prefix
    this.#region = region
  }

  forRegion(name: string): EntityState {
    checkIdentifier('name of a region', name)
    return new RedisState(this.#guard, this.#prefix, name, this.options)
  }

  protected async read(id: string, token: bigint, { signal }: StoreCall): Promise<string | undefined> {
    const text = await this.#guard.transact(this.#keyOf(id), token, ['GET'], { signal })
    return text === null ? undefined : String(text)
  }

  protected async write(id: string, text: string, token: bigint, { signal }: StoreCall): Promise<void> {
    await this.#guard.write(this.#keyOf(id), token, text, { signal })
  }

  protected failureOf(action: string, id: string, error: unknown): unknown {
    if (error instanceof LeaseError && error.code !== 'unavailable') return error
    return redisFailure(action, id, error)
  }

  #keyOf(id: string): string {
    return `${this.#prefix}${encodeLeaseName(this.#region, alphabet)}:${encodeLeaseName(id, alphabet)}`
  }
}

function redisFailure(action: string, id: string, error: unknown): LeaseError {
  const message = reasonOf(error)
  const failed = `${action} failed in Redis: ${message}`
  const details = { leaseName: id, store: 'redis', cause: error }
  if (/NOAUTH|WRONGPASS|invalid password|invalid username-password|Client sent AUTH/.test(message)) {
    return new LeaseUnauthorisedError(`${failed}: check the username and the password of the client`, details)
  }
  if (message.includes('NOPERM') || message.includes('The user executing the script can')) {
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
