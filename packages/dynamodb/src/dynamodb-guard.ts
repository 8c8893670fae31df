import type * as Sdk from '@aws-sdk/client-dynamodb'
import { Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, inRounds } from '@leasehold/core/store-kit'
import {
  checkClient,
  type DynamodbClient,
  type DynamodbTableOptions,
  tableIn,
  tableOptionNames,
} from './dynamodb-options.js'
import { isNamed } from './failure-of.js'
import { FENCES, ITEM } from './lease-item.js'
import { LeaseTable } from './lease-table.js'

/** A write of the user: `Put`, `Update`, `Delete` or `ConditionCheck`, as in `TransactWriteItems`. */
export type DynamodbWrite = Sdk.TransactWriteItem

/**
 * Rejects writes with an old fencing token: a holder that has not noticed its loss cannot overwrite the data of its
 * successor. Every writer of the resource must use a guard. The largest token is kept in an item of its own, with the key
 * `leasehold-fence/RESOURCE`, also after the data was deleted.
 *
 * The check, the new token and the writes are one `TransactWriteItems`. All methods reject with a `LeaseLostError`, and write
 * nothing, if a larger token has written the resource; with a `LeaseUnavailableError` if the answer is unknown. If one of
 * the user's own conditions does not hold, they reject with the `TransactionCanceledException` of the SDK, whose reasons
 * begin with those of the user's writes, in their order. There is no time limit unless a `signal` is given.
 */
export class DynamodbGuard implements FencingGuard {
  readonly #table: LeaseTable
  readonly #aborts = new AbortListeners()

  /** `options`: the table of the fences; that of the leases unless given. Throws a `LeaseConfigurationError`. */
  constructor(client: DynamodbClient, options: DynamodbTableOptions = {}) {
    checkClient(client)
    checkOptionNames('DynamodbGuard', options, tableOptionNames, { store: 'dynamodb' })
    this.#table = new LeaseTable(client, tableIn(options))
  }

  /** Puts one item, which the resource stands for. */
  async write(
    resource: string,
    fencingToken: bigint | string,
    put: NonNullable<DynamodbWrite['Put']>,
    options?: GuardOptions,
  ): Promise<void> {
    await this.transact(resource, fencingToken, [{ Put: put }], options)
  }

  /** Makes up to 99 writes, in any tables of the region and account: all of them, or none. */
  async transact(
    resource: string,
    fencingToken: bigint | string,
    writes: readonly DynamodbWrite[],
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('dynamodb', resource, fencingToken, options)
    await fence.send(this.#aborts, (call) =>
      inRounds(resource, { store: 'dynamodb' }, () => this.#round(fence, writes, call)),
    )
  }

  /** Resolves with `undefined` if another transaction wrote the fence or an item at the same time. */
  async #round(fence: Fence, writes: readonly DynamodbWrite[], call: StoreCall): Promise<true | undefined> {
    const { table, partitionKey } = this.#table.name
    const key = { [partitionKey]: { S: FENCES + fence.resource } }
    const raise: DynamodbWrite = {
      Update: {
        TableName: table,
        Key: key,
        UpdateExpression: 'SET #token = :token',
        ConditionExpression: 'attribute_not_exists(#token) OR #token <= :token',
        ExpressionAttributeNames: { '#token': ITEM.fencingToken },
        ExpressionAttributeValues: { ':token': { N: String(fence.token) } },
      },
    }
    // The fence comes last, so that the reasons of a cancellation have the places of the user's writes.
    const input = { TransactItems: [...writes, raise] }
    const operation = { name: `write of '${fence.resource}'`, leaseName: fence.resource }
    const ownFaultIn = (error: unknown) =>
      isNamed(error, 'TransactionCanceledException') || isNamed(error, 'ValidationException') ? { error } : undefined
    const answer = await this.#table.sendOr<unknown, { readonly error: unknown }>(
      operation,
      call,
      ({ TransactWriteItemsCommand }) => new TransactWriteItemsCommand(input),
      ownFaultIn,
    )
    if (!('error' in answer)) return true
    const { error } = answer
    const { CancellationReasons: reasons } = error as Partial<Sdk.TransactionCanceledException>
    // Neither side has written.
    if (reasons?.every(({ Code }) => Code === 'None' || Code === 'TransactionConflict')) return undefined
    // The service may find a fault of the user's own before it looks at the fence.
    const { output } = await this.#table.get(key, operation, call)
    fence.check(output?.[ITEM.fencingToken]?.N)
    throw error
  }
}
