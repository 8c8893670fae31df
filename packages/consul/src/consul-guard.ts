import { LeaseConflictError, systemClock } from '@leasehold/core'
import { Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, inRounds } from '@leasehold/core/store-kit'
import { type ConsulClusterOptions, checkNoClient, clusterOptionNames } from './cluster-options.js'
import { misconfigured } from './consul-options.js'
import { failureOf, isDenied } from './failure-of.js'
import { bodyOf, type ConsulAnswer } from './http/consul-answer.js'
import { ConsulClient } from './http/consul-client.js'
import { pathOf } from './key-space.js'
import { MOST_OPERATIONS, transaction, unchanged } from './transaction.js'

/** The prefix of the keys that keep the largest token of a guarded key. */
const FENCES = 'leasehold-fences/'

/** How often a write is tried when other writers are faster. */
const ROUNDS = 10

/** The most operations of the guard itself, at the beginning of a transaction. */
const OWN_OPERATIONS = 2

/** An operation of a transaction of Consul, as its HTTP API has it; the value in base64. */
export interface ConsulOperation {
  readonly KV: {
    readonly Verb: string
    readonly Key: string
    readonly Value?: string
    readonly Flags?: number
    readonly Index?: number
    readonly Session?: string
  }
}

/**
 * Writes keys of Consul under fencing tokens: rejects the write of a holder that has lost its lease without noticing. Every
 * writer of a key must use a guard. The largest token that has written `<key>` is kept in `leasehold-fences/<key>`, also
 * after the key was deleted; the token of the ACL needs `key:write` there.
 *
 * The check of the token and the write are one transaction, which is applied at most once: it is not sent to another agent if
 * it may have reached the first. All methods reject with a `LeaseLostError`, and write nothing, if a larger token has written
 * the key; and with a `LeaseUnavailableError` if the outcome is unknown: the write may have happened, or may still happen. There
 * is no time limit unless a `signal` is given.
 */
export class ConsulGuard implements FencingGuard {
  readonly #client: ConsulClient
  readonly #aborts = new AbortListeners()

  /** Throws a `LeaseConfigurationError` for an unknown or invalid option. */
  constructor(options: ConsulClusterOptions = {}) {
    checkNoClient('ConsulGuard', options)
    checkOptionNames('ConsulGuard', options, clusterOptionNames, { store: 'consul' })
    this.#client = new ConsulClient({ ...options, clock: options.clock ?? systemClock })
  }

  async write(
    key: string,
    fencingToken: bigint | string,
    value: string | Uint8Array,
    options?: GuardOptions,
  ): Promise<void> {
    await this.transact(key, fencingToken, [setting(key, value)], options)
  }

  async delete(key: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, [{ KV: { Verb: 'delete', Key: key } }], options)
  }

  /**
   * Applies a transaction of your own, of up to 62 operations, under the token of `key`. Rejects with a
   * `LeaseConflictError`, and writes nothing, if one of your operations fails; its cause is the answer of Consul.
   */
  async transact(
    key: string,
    fencingToken: bigint | string,
    operations: readonly ConsulOperation[],
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('consul', key, fencingToken, options)
    const most = MOST_OPERATIONS - OWN_OPERATIONS
    if (operations.length > most) {
      throw misconfigured(`a guarded transaction takes up to ${most} operations, not ${operations.length}: split it`)
    }
    await fence.send(this.#aborts, (call) =>
      inRounds(key, { store: 'consul' }, () => this.#round(fence, operations, call), ROUNDS),
    )
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    this.#client.close()
  }

  /** Resolves `true` when it is written; `undefined` if another guard was faster. */
  async #round(fence: Fence, operations: readonly ConsulOperation[], call: StoreCall): Promise<true | undefined> {
    const { resource: key, token } = fence
    const fenceKey = FENCES + key
    const read = await this.#client.send({ method: 'GET', path: pathOf(fenceKey), query: { consistent: '' } }, call)
    const seen = fenceIn(read, key)
    fence.check(seen?.token)
    const stored = JSON.stringify(setting(fenceKey, String(token)))
    // Writes under the same token do not get in the way of each other.
    const own = seen?.token === String(token) ? [unchanged(fenceKey, seen)] : [unchanged(fenceKey, seen), stored]
    const body = transaction([...own, ...operations.map((operation) => JSON.stringify(operation))])
    // A second copy could arrive late, and replace what the same holder has written since.
    const answer = await this.#client.send({ method: 'PUT', path: '/txn', body, once: true }, call)
    if (answer.status === 200) return true
    const { Errors } = Object(bodyOf(answer)) as { Errors?: readonly { OpIndex?: number; What?: string }[] }
    if (answer.status !== 409 || !Array.isArray(Errors) || Errors.some(({ What = '' }) => isDenied(What)))
      throw failureOf(`the guarded write of '${key}'`, undefined, answer, permissionsFor(key))
    if (Errors.some(({ OpIndex = 0 }) => OpIndex < own.length)) return undefined
    const said = Errors.map(({ OpIndex = 0, What }) => `operation ${OpIndex - own.length}: ${What}`).join('; ')
    throw new LeaseConflictError(`the guarded transaction of '${key}' was not applied: ${said}`, {
      store: 'consul',
      cause: answer,
    })
  }
}

function setting(key: string, value: string | Uint8Array): ConsulOperation {
  return { KV: { Verb: 'set', Key: key, Value: Buffer.from(value as string).toString('base64') } }
}

/** Returns the permissions that the ACL token needs for a guarded write. */
function permissionsFor(key: string): string {
  return `key:write on '${key}', on the other keys of the transaction, and on '${FENCES}${key}'`
}

/** The fence of the key in the answer to a read. */
function fenceIn(answer: ConsulAnswer, key: string): { token: string; modifyIndex: number } | undefined {
  if (answer.status === 404 && answer.text === '') return undefined
  const parts = bodyOf(answer)
  const { Value, ModifyIndex } = Object(Array.isArray(parts) ? parts[0] : undefined) as {
    Value?: string
    ModifyIndex?: number
  }
  if (answer.status !== 200 || ModifyIndex === undefined)
    throw failureOf(`reading '${FENCES}${key}'`, undefined, answer, permissionsFor(key))
  return { token: Buffer.from(Value ?? '', 'base64').toString(), modifyIndex: ModifyIndex }
}
