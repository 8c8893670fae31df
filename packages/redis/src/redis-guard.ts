import { LeaseConfigurationError, LeaseLostError } from '@leasehold/core'
import type { ScriptCall } from './client/connection.js'
import { type OwnClient, ownClientOf } from './client/dialect-of.js'
import type { RedisClient } from './client/redis-client.js'
import { failureOf } from './failure-of.js'

/**
 * Put before a script of one's own, which is told two things more than its own: the fence as the last of KEYS, and the
 * fencing token as the last of ARGV. It ends with the error `FENCED` where a larger token was there before; else the script
 * goes on as if the two had never been.
 */
const fenceLua = `do
  local fence, token = table.remove(KEYS), table.remove(ARGV)
  local seen = redis.call('GET', fence)
  if seen and (#token < #seen or (#token == #seen and token < seen)) then
    return redis.error_reply('FENCED ' .. seen)
  end
  redis.call('SET', fence, token)
end
`

/** What a script of one's own does to keys of one slot. */
export interface FencedScript {
  /** Lua, as for EVAL: it finds its keys in KEYS and its arguments in ARGV. */
  readonly script: string
  /** The first one is what is guarded. */
  readonly keys: readonly [string, ...string[]]
  readonly args?: readonly string[]
  /** The time limit; without one, the client's. */
  readonly signal?: AbortSignal
}

/**
 * Checks fencing tokens for keys of one's own: a holder that has lost its lease without knowing writes nothing over what
 * its successor has written. All who write such a key have to do so through a guard. The largest token that has written a
 * key is kept beside it, in `leasehold:fence:{<key>}`, without an expiry.
 */
export class RedisGuard {
  readonly #client: OwnClient

  /** The client with which the keys are written, of ioredis or node-redis: it is used as it is. */
  constructor(client: RedisClient) {
    this.#client = ownClientOf(client)
  }

  /**
   * Runs a command that writes one key, unless a larger token has written it: then rejects with a `LeaseLostError`. As in
   * `guard.write(token, 'HSET', 'account:1', 'balance', '5')`.
   */
  write(fencingToken: bigint, command: string, key: string, ...args: readonly string[]): Promise<unknown> {
    const script = 'return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))'
    return this.run(fencingToken, { script, keys: [key], args: [command, ...args] })
  }

  /** Runs a script, unless a larger token has written its first key: then rejects with a `LeaseLostError`. */
  async run(fencingToken: bigint, { script, keys, args = [], signal }: FencedScript): Promise<unknown> {
    if (typeof fencingToken !== 'bigint' || fencingToken < 0n) {
      throw new LeaseConfigurationError(`fencingToken must be a bigint of 0 or more, not ${String(fencingToken)}`, {
        store: 'redis',
      })
    }
    const [key] = keys
    const fence = fenceOf(key, this.#client.keyPrefix)
    const call: ScriptCall = {
      command: 'EVAL',
      script: fenceLua + script,
      keys: [...keys, fence],
      args: [...args, String(fencingToken)],
    }
    try {
      signal?.throwIfAborted()
      return await this.#client.run(call, signal ?? never)
    } catch (error) {
      const [, seen] = /\bFENCED (\d+)/.exec(error instanceof Error ? error.message : '') ?? []
      if (seen === undefined) throw failureOf('write', key, error)
      throw new LeaseLostError(
        `the fencing token ${fencingToken} for '${key}' is behind ${seen}: another holds the lease now`,
        { leaseName: key, store: 'redis', reason: 'taken' },
      )
    }
  }
}

const never = new AbortController().signal

/** Where the token of a key stands: in the slot of the key, whatever else its name says. */
function fenceOf(key: string, keyPrefix: string): string {
  const whole = keyPrefix + key
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(whole) ?? []
  if (tag !== undefined) return `leasehold:fence:{${tag}}:${key}`
  if (!whole.includes('}') && !keyPrefix.includes('{')) return `leasehold:fence:{${whole}}`
  throw new LeaseConfigurationError(
    `the key '${key}' cannot be guarded: with braces that are no hash tag, nothing else can be kept in its slot`,
    { store: 'redis' },
  )
}
