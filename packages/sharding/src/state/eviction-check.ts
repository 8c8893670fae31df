import { LeaseStoreUnfitError } from '@leasehold/core'
import type { RedisClient } from '@leasehold/redis'
import { adapterFor, type ClientAdapter } from '@leasehold/redis/internal'

/** Returns an empty text to a user who may not run INFO. In a script, a cluster client sends it to the node of the key. */
const SCRIPT = "local info = redis.pcall('INFO', 'memory') if type(info) == 'table' then return '' end return info"

/**
 * The check before the first load whether the server evicts keys without an expiry: it would forget entities and their
 * fencing tokens. In a cluster, the node of the first entity is asked. It is repeated until the server passes it.
 */
export class EvictionCheck {
  readonly #client: ClientAdapter
  #isDue: boolean
  #asked: Promise<void> | undefined

  constructor(client: RedisClient, isOn: boolean) {
    this.#client = adapterFor(client)
    this.#isDue = isOn
  }

  get isDue(): boolean {
    return this.#isDue
  }

  /** Rejects with a `LeaseStoreUnfitError` if the server evicts, and with the error of the client if it cannot be asked. */
  async require(key: string): Promise<void> {
    this.#asked ??= this.#ask(key).finally(() => {
      this.#asked = undefined
    })
    await this.#asked
  }

  async #ask(key: string): Promise<void> {
    const keys = [this.#client.keyPrefix + key]
    const info = String(await this.#client.run({ command: 'EVAL', script: SCRIPT, keys, args: [] }))
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(info) ?? []
    const isLimited = !/^maxmemory:0\s*$/m.test(info)
    if (policy === undefined || !policy.startsWith('allkeys') || !isLimited) {
      this.#isDue = false
      return
    }
    throw new LeaseStoreUnfitError(
      `the Redis server may evict entities: its maxmemory-policy is ${policy}. Set it to noeviction or volatile-lru, or keep ` +
        'entities on a server of their own. The option probe: false turns this check off',
      { store: 'redis', setting: 'maxmemory-policy' },
    )
  }
}
