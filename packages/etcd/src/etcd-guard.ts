import { LeaseUnavailableError, systemClock } from '@leasehold/core'
import { type AbortableCall, Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type Compare, EQUAL, LESS, MOD, type RequestOp, type TxnResponse, VALUE, VERSION } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import { isRpcError } from './client/rpc-error.js'
import { failureOf } from './failure-of.js'

/** The status of a request that can never succeed. */
const INVALID_ARGUMENT = 3

/** The longest time of a write, in milliseconds. */
const TIMEOUT = 10_000

/** A write to one key, in the user's own transaction. */
export type EtcdWrite =
  | { readonly put: string; readonly value: string | Uint8Array; readonly lease?: bigint }
  | { readonly delete: string }

/** A condition of the user's own transaction. */
export type EtcdCondition =
  | { readonly key: string; readonly value: string | Uint8Array }
  /** The revision of the last write of the key; 0: the key does not exist. */
  | { readonly key: string; readonly modRevision: bigint }

export interface EtcdTransaction {
  /** All of them must hold; none unless given. */
  readonly when?: readonly EtcdCondition[]
  readonly write: readonly EtcdWrite[]
}

/** The user's own transaction, as the server takes it. */
interface OwnTransaction {
  readonly conditions: readonly Compare[]
  readonly operations: readonly RequestOp[]
}

const transactionNames: OptionNames<EtcdTransaction> = { when: true, write: true }

export interface EtcdGuardOptions {
  /** The beginning of the keys in which the guard keeps tokens; `leasehold-fence/` unless given. All writers need the same. */
  readonly prefix?: string | undefined
}

const optionNames: OptionNames<EtcdGuardOptions> = { prefix: true }

/**
 * Rejects writes with an old fencing token: a holder that has not noticed its loss cannot overwrite the data of its
 * successor. Every writer of a key must use a guard. The largest token that has written a key is kept in
 * `leasehold-fence/<key>`, also after the key was deleted.
 *
 * The check, the new token and the writes are one transaction, which is sent once. If it had no effect because the key has
 * no fence yet, or because the conditions did not hold, another one follows. The methods reject with a `LeaseLostError` if
 * a larger token has written the key, and with a `LeaseUnavailableError` if the answer is unknown: the write may then have
 * happened. If the server rejects the user's own transaction, they reject with the error of gRPC, and nothing was written.
 * A write takes at most 10 s, also without a `signal`.
 */
export class EtcdGuard implements FencingGuard {
  readonly #client: EtcdClient
  readonly #prefix: string
  readonly #aborts = new AbortListeners()

  constructor(client: EtcdClient, options: EtcdGuardOptions = {}) {
    checkOptionNames('EtcdGuard', options, optionNames, { store: 'etcd' })
    this.#client = client
    this.#prefix = options.prefix ?? 'leasehold-fence/'
  }

  async write(
    key: string,
    fencingToken: bigint | string,
    value: string | Uint8Array,
    options?: GuardOptions,
  ): Promise<void> {
    await this.transact(key, fencingToken, { write: [{ put: key, value }] }, options)
  }

  async delete(key: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, { write: [{ delete: key }] }, options)
  }

  /**
   * Writes several keys, if the conditions hold; `key` is the one that is guarded. Returns whether they held: if not, nothing
   * was written, and the fence has the token nevertheless.
   */
  async transact(
    key: string,
    fencingToken: bigint | string,
    transaction: EtcdTransaction,
    options?: GuardOptions,
  ): Promise<boolean> {
    const fence = new Fence('etcd', key, fencingToken, options)
    checkOptionNames('EtcdGuard.transact', transaction, transactionNames, { store: 'etcd' })
    const { when = [], write } = transaction
    const own = { conditions: when.map(compareOf), operations: write.map(operationOf) }
    return await fence.send(this.#aborts, (call) => this.#limited(fence, own, call), TIMEOUT)
  }

  /**
   * There are no transactions within the transaction: etcd does not check whether the user has the permissions for those.
   * So the first one expects a fence with a token that is not larger, and the conditions. If it fails, the next one expects
   * no fence, or it raises the fence alone.
   */
  async #transact(fence: Fence, { conditions, operations }: OwnTransaction, call: StoreCall) {
    const { token } = fence
    const key = Buffer.from(this.#prefix + fence.resource)
    const raised = { requestPut: { key, value: ordered(token) } }
    const failure = [{ requestRange: { key } }]
    const isOlder: Compare = { result: LESS, target: VALUE, key, value: ordered(token + 1n) }
    // A comparison of the value of a key that does not exist never holds.
    const isNew: Compare = { result: EQUAL, target: VERSION, key, version: '0' }
    let expected = isOlder
    let areMet = true
    for (;;) {
      const request = areMet
        ? { compare: [expected, ...conditions], success: [raised, ...operations], failure }
        : { compare: [expected], success: [raised], failure }
      const answer = await this.#client.request('Txn', request, call, false).catch(async (error: unknown) => {
        // The server rejects an invalid transaction before it looks at the fence.
        if (isOwnFailure(error)) {
          const look = { compare: [], success: failure, failure: [] }
          fence.check(tokenIn(await this.#client.request('Txn', look, call, false)))
        }
        throw error
      })
      if (answer.succeeded) return areMet
      const seen = tokenIn(answer)
      fence.check(seen)
      const next = seen === undefined ? isNew : isOlder
      if (next === expected) {
        // The fence is as expected, so one of the conditions does not hold.
        if (!areMet || conditions.length === 0) throw fence.rejection(seen ?? '')
        areMet = false
      }
      expected = next
    }
  }

  /** Ends the write after the time limit. */
  async #limited(fence: Fence, own: OwnTransaction, call: AbortableCall): Promise<boolean> {
    const { resource: key } = fence
    const cancel = systemClock.schedule(TIMEOUT, () => {
      call.abort(new LeaseUnavailableError(`the guarded write of '${key}' was not answered`, { store: 'etcd' }))
    })
    try {
      return await this.#transact(fence, own, call)
    } catch (error) {
      if (call.aborted) throw error
      const access = `the key '${key}', the other keys of the transaction, and '${this.#prefix}${key}'`
      throw isOwnFailure(error) ? error : failureOf('a guarded write', key, error, access)
    } finally {
      cancel()
    }
  }
}

/** The length of the digits, and the digits: such texts compare as the numbers do. */
function ordered(token: bigint): Buffer {
  const digits = String(token)
  return Buffer.from(`${String(digits.length).padStart(6, '0')} ${digits}`)
}

/** The token in the fence, which is the first range of this answer; `undefined` if there is no fence. */
function tokenIn({ responses }: TxnResponse): string | undefined {
  const seen = responses[0]?.responseRange?.kvs[0]?.value.toString()
  return seen?.slice(seen.indexOf(' ') + 1)
}

function compareOf(condition: EtcdCondition): Compare {
  const key = Buffer.from(condition.key)
  if ('value' in condition) return { result: EQUAL, target: VALUE, key, value: Buffer.from(condition.value) }
  return { result: EQUAL, target: MOD, key, modRevision: String(condition.modRevision) }
}

function operationOf(write: EtcdWrite): RequestOp {
  if ('delete' in write) return { requestDeleteRange: { key: Buffer.from(write.delete) } }
  const { put, value, lease = 0n } = write
  return { requestPut: { key: Buffer.from(put), value: Buffer.from(value), lease: String(lease) } }
}

/** Whether the server rejects the transaction of the user: nothing was written. */
function isOwnFailure(error: unknown): boolean {
  return isRpcError(error) && error.code === INVALID_ARGUMENT && !/user/.test(error.details)
}
