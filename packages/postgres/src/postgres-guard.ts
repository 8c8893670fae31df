import type { LeaseLostError } from '@leasehold/core'
import { firstCause, lostUnderLease, underLease } from '@leasehold/core/sql-kit'
import { Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, untilAborted } from '@leasehold/core/store-kit'
import { runIn, type Transaction } from './client/transaction.js'
import { failureOf, sqlStateOf } from './failure-of.js'
import { misconfigured } from './postgres-options.js'
import { jsonLiteral, textLiteral, toColumn } from './sql-text.js'
import { SqlNames, type TableNames } from './table-names.js'

export interface FencedRowsOptions extends GuardOptions {
  /** The values of columns that select the rows, such as `{ id: 7 }`. */
  readonly where: Readonly<Record<string, string | number | bigint | boolean | null>>
  /** The column with the token; `fencing_token` unless given. */
  readonly column?: string | undefined
}

export interface UnderLeaseOptions extends GuardOptions {
  /**
   * Ends the transaction, and its connection, when the client has sent nothing for this time, in milliseconds: a process that
   * was stopped within it then keeps the name from others for this long only. Unless given, the setting
   * `idle_in_transaction_session_timeout` of the server counts, which is off by default.
   */
  readonly idleLimit?: number | undefined
}

const LOST = 'LH001'
const FENCED = 'LH002'
const UNDER_SAVEPOINT = 'LH003'

/**
 * Protects the transactions of users. Call a method first in the transaction, then write. Roll back if it rejects: with a
 * `LeaseLostError` for a token that is too old; with a `LeaseConfigurationError` outside a transaction, and under a savepoint,
 * whose rollback would end the protection while the transaction could still commit. A nested transaction of a library is a
 * savepoint. Errors of the connection are those of the client.
 *
 * A statement that is under way when a `signal` aborts goes on: roll back as well.
 */
export class PostgresGuard implements FencingGuard {
  readonly #names: SqlNames
  readonly #aborts = new AbortListeners()

  /** The tables of `migrate`. Throws a `LeaseConfigurationError` for an unknown or invalid option. */
  constructor(options: TableNames = {}) {
    checkOptionNames<TableNames>('PostgresGuard', options, { schema: true, table: true }, { store: 'postgres' })
    this.#names = new SqlNames(options)
  }

  /**
   * Rejects the transaction if a larger fencing token has written the resource before. The token is stored when the
   * transaction commits, and kept when the resource is deleted. Every writer of the resource must call it. Writers of one
   * resource take turns until their transactions end. `resource` is any text, such as the name of a table.
   */
  async transact(
    resource: string,
    fencingToken: bigint | string,
    transaction: Transaction,
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('postgres', resource, fencingToken, options)
    const call = `select "leasehold"."leases_fence"(${textLiteral(toColumn(resource))}, ${fence.token})::text as fenced`
    await this.#run(transaction, fence, `the fence of '${resource}'`, call, toFenced(fence))
  }

  /**
   * As `transact`, for rows that have a fencing token in a column of their own: raises it in the rows, and locks them until
   * the transaction ends. Resolves with the number of rows. A row that is not there has no token: use `transact` where rows
   * are created and deleted. `table` is written as in SQL: `accounts`, `billing.accounts`, `"Accounts"`. For a view, it does
   * not notice a savepoint.
   */
  async transactRows(
    table: string,
    fencingToken: bigint | string,
    transaction: Transaction,
    options: FencedRowsOptions,
  ): Promise<number> {
    const fence = new Fence('postgres', table, fencingToken, options, ['where', 'column'])
    const { where, column = 'fencing_token' } = options
    if (Object.keys(where).length === 0) throw misconfigured('where must name the rows to fence, such as { id: 7 }')
    const values = Object.entries(where).map(([key, value]) => [key, value === null ? null : String(value)])
    const args = [
      `${textLiteral(table)}::regclass`,
      fence.token,
      `${jsonLiteral(Object.fromEntries(values))}::jsonb`,
      textLiteral(column),
    ]
    const sql = `select "leasehold"."leases_fence_rows"(${args.join(', ')})::text as count`
    const row = await this.#run(transaction, fence, `the fence of rows of ${table}`, sql, toFenced(fence))
    return Number(row.count)
  }

  /**
   * Makes the writes of a transaction impossible without the lease, which is in the same database. Checks that the lease is
   * held under this fencing token by the clock of the server, and keeps its name from every other grant until the
   * transaction ends: also if the lease expires, is released or broken meanwhile. Heartbeats do not wait for the transaction,
   * and challengers are refused at once.
   *
   * `fencingToken` is that of the grant; `undefined`, as of a lease that is not held, is rejected with a `LeaseLostError` too.
   */
  async transactUnderLease(
    name: string,
    fencingToken: bigint | string | undefined,
    transaction: Transaction,
    options: UnderLeaseOptions = {},
  ): Promise<void> {
    const open = (token: bigint | string) => new Fence('postgres', name, token, options, ['idleLimit'])
    const fence = underLease('postgres', fencingToken, open)
    const { idleLimit = null } = options
    if (idleLimit !== null && !(Number.isInteger(idleLimit) && idleLimit > 0)) {
      throw misconfigured(`idleLimit must be a whole number of milliseconds, not ${idleLimit}`)
    }
    const call = `"leasehold"."leases_guard"(${textLiteral(toColumn(name))}, ${fence.token}, ${idleLimit})`
    const action = `the guard of lease '${name}'`
    const select = `select ${call}::text as guarded, transaction_timestamp() = statement_timestamp() as alone`
    const toLoss: ToLoss = (state) => (state === LOST ? lostUnderLease('postgres', fence) : undefined)
    const { alone } = await this.#run(transaction, fence, action, select, toLoss)
    if (alone !== true && alone !== 't') return
    throw misconfigured(
      `${action} was not called within a transaction, so that it ended with its statement: begin one, call the guard in ` +
        'it, write, and commit',
    )
  }

  /** Resolves with the row that the statement returns. */
  async #run(
    transaction: Transaction,
    fence: Fence,
    action: string,
    sql: string,
    toLoss: ToLoss,
  ): Promise<Readonly<Record<string, unknown>>> {
    const statement = runIn(transaction, this.#names.in(sql)).catch((error: unknown) => {
      throw toError(error, { action, leaseName: fence.resource }, toLoss)
    })
    const [row] = await fence.send(this.#aborts, (call) => untilAborted(statement, call))
    return row as Readonly<Record<string, unknown>>
  }
}

function toFenced(fence: Fence): ToLoss {
  return (state, detail) => (state === FENCED ? fence.rejection(String(detail ?? '')) : undefined)
}

type ToLoss = (state: string | undefined, detail: unknown) => LeaseLostError | undefined

/** A call, for errors. */
interface Guarding {
  readonly action: string
  readonly leaseName: string
}

function toError(error: unknown, { action, leaseName }: Guarding, toLoss: ToLoss): unknown {
  const [cause, state] = firstCause(error, sqlStateOf) ?? []
  const loss = toLoss(state, (cause as { detail?: unknown } | undefined)?.detail)
  if (loss !== undefined) return Object.assign(loss, { cause: error })
  if (state === UNDER_SAVEPOINT) {
    return misconfigured(
      `${action} was called under a savepoint, whose rollback would end it: call it first in the outermost transaction, ` +
        'then nested ones are protected too',
      error,
    )
  }
  return state === '42883' || state === '3F000' ? failureOf(action, leaseName, cause) : error
}
