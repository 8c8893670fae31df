import {
  LeaseConfigurationError,
  type LeaseError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, untilAborted } from '@leasehold/core/store-kit'
import { adapterFor } from './client/client-adapter.js'
import type { ClientAdapter, ScriptCall } from './client/connection.js'
import type { RedisClient } from './client/redis-client.js'
import { isReply, ServerReply } from './client/server-reply.js'
import { isDenied } from './failure-of.js'
import { misconfigured } from './redis-options.js'

/**
 * The caller's script is a function, so that it sees no variable of the guard, and starts on the first line, so that its
 * errors have the caller's line numbers. The last of KEYS is the fence and the last of ARGV the fencing token; the guard
 * removes both before the caller's script runs.
 *
 * Returns a list: the result of the caller's script; or a text and the reason why the script did not run. An error of the
 * caller's script is the error of the call.
 */
function guarded(script: string, afterFailure = ''): string {
  return `local work = function(...) ${script}
end
local fence, token = table.remove(KEYS), table.remove(ARGV)
local seen = redis.pcall('GET', fence)
if type(seen) == 'table' then return { seen.err, 'failed' } end
if seen and (#token < #seen or (#token == #seen and token < seen)) then return { seen, 'fenced' } end
if seen ~= token then
  local answer = redis.pcall('SET', fence, token)
  if answer.err then return { answer.err, 'failed' } end
end
local result = work()
if type(result) == 'table' and result.err then
  ${afterFailure}
  return result
end
return { result }
`
}

/** A command that fails has written nothing: the fence gets its old token back. */
const commandScript = guarded(
  'return redis.pcall(ARGV[1], KEYS[1], unpack(ARGV, 2))',
  "if seen then redis.pcall('SET', fence, seen) else redis.pcall('DEL', fence) end",
)

/** Lua cannot pass more than about 8,000 arguments to a function. */
const MOST_ARGUMENTS = 7_900

/** A command that writes the guarded key, without that key: `['HSET', 'balance', '5']`. */
export type FencedCommand = readonly [command: string, ...args: string[]]

/** A script that writes keys of one slot. */
export interface FencedScript {
  /** Lua, as for EVAL, with its arguments in ARGV. `KEYS[1]` is the guarded key. */
  readonly script: string
  /** The other keys, from `KEYS[2]` on. */
  readonly keys?: readonly string[]
  readonly args?: readonly string[]
}

/**
 * Rejects writes with an old fencing token: a holder that has not noticed its loss cannot overwrite the data of its
 * successor. Every writer of a key must use a guard. The largest token that has written a key is kept in the slot of the key
 * as `leasehold:fence:{<key>}`, without an expiry, also after the key was deleted. `<key>` includes a `keyPrefix`.
 *
 * All methods check the token, store it and write in one step. They reject with a `LeaseLostError` if a larger token has
 * written the key, and with a `LeaseUnavailableError` if the server cannot be reached: the write may then have happened.
 * If the command or script fails on the server, they reject with the error of the client. The time limit is that of the
 * client unless a `signal` is given.
 */
export class RedisGuard implements FencingGuard {
  readonly #client: ClientAdapter
  readonly #aborts = new AbortListeners()

  /** The client over which the commands are sent. */
  constructor(client: RedisClient) {
    this.#client = adapterFor(client)
  }

  async write(key: string, fencingToken: bigint | string, value: string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, ['SET', value], options)
  }

  async delete(key: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, ['DEL'], options)
  }

  /**
   * Runs a command that writes the key, `guard.transact('account:1', token, ['HSET', 'balance', '5'])`, or a script that also
   * writes other keys of its slot. Resolves with the result.
   *
   * A command that fails leaves the fence as it was. Redis does not undo what a script has written before it fails: the fence
   * then keeps the new token. ioredis sends a command again if the connection ends before the answer comes: it may run twice.
   * Throws a `LeaseConfigurationError` for a command with more than 7,900 arguments.
   */
  async transact(
    key: string,
    fencingToken: bigint | string,
    work: FencedCommand | FencedScript,
    options?: GuardOptions,
  ): Promise<unknown> {
    const fence = new Fence('redis', key, fencingToken, options)
    const { script, keys = [], args = [] } = 'script' in work ? fencedScript(work) : fencedCommand(work)
    const all = [key, ...keys].map((one) => this.#client.keyPrefix + one)
    const fenceKey = fenceOf(this.#client.keyPrefix + key)
    const command: ScriptCall = {
      command: 'EVAL',
      script,
      keys: [...all, fenceKey],
      args: [...args, String(fence.token)],
    }
    // Not every client ends with the signal by itself.
    const sent = fence.send(this.#aborts, (call) => untilAborted(this.#client.run(command, fence.signal), call))
    const answer = await sent.catch((error: unknown) => {
      if (error instanceof ServerReply) throw error.cause
      throw isReply(error) ? error : unreached(key, error, fence.signal)
    })
    const [result = null, why] = answer as readonly unknown[]
    if (why === 'fenced') throw fence.rejection(String(result))
    if (why === 'failed') throw fenceFailure(key, fenceKey, String(result))
    return result
  }
}

function fencedScript(work: FencedScript): FencedScript {
  const names = { script: true, keys: true, args: true } as const
  checkOptionNames<FencedScript>('RedisGuard.transact', work, names, { store: 'redis' })
  return { ...work, script: guarded(work.script) }
}

function fencedCommand(work: FencedCommand): FencedScript {
  const most = MOST_ARGUMENTS
  if (work.length - 1 <= most) return { script: commandScript, args: work }
  throw misconfigured(
    `a guarded command takes up to ${most} arguments, not ${work.length - 1}: split it into several commands, or pass a ` +
      'script that does so',
  )
}

/** The key of the fencing token, in the same slot as the guarded key. */
function fenceOf(key: string): string {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? []
  if (tag !== undefined) return `leasehold:fence:{${tag}}:${key}`
  if (!key.includes('}')) return `leasehold:fence:{${key}}`
  throw misconfigured(
    `the key '${key}' cannot be guarded: its braces are not a hash tag, so that no fence fits into its slot; use a key ` +
      'without braces, or with a hash tag',
  )
}

function unreached(key: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  const message = error instanceof Error ? error.message : String(error)
  const details = { leaseName: key, store: 'redis', cause: error }
  return new LeaseUnavailableError(`the guarded write of '${key}' was not answered: ${message}`, details)
}

/** The error for a fence that could not be read or stored. Nothing was written. */
function fenceFailure(key: string, fence: string, message: string): LeaseError {
  const failed = `the fence '${fence}' of '${key}' cannot be used: ${message}`
  const details = { leaseName: key, store: 'redis' }
  if (isDenied(message)) {
    return new LeaseUnauthorisedError(
      `${failed}: the user needs +get +set +del and the keys leasehold:fence:*`,
      details,
    )
  }
  if (message.startsWith('WRONGTYPE')) {
    return new LeaseConfigurationError(`${failed}: delete that key: only guards write it`, details)
  }
  return new LeaseUnavailableError(failed, details)
}
