import { LeaseLostError } from '@leasehold/core'
import { checkFencingToken, checkOptionNames, fenced } from '@leasehold/core/store'
import { runIn, type Transaction } from './client/transaction.js'
import { failureOf, sqlStateOf } from './failure-of.js'
import { wrong } from './postgres-options.js'
import { jsonLiteral, toColumn } from './sql-text.js'
import { SqlNames, type TableNames } from './table-names.js'

/** A lease that is held: a `Lease`, or the name and the fencing token of its grant. */
export type GuardedLease =
  | { readonly settings: { readonly name: string }; readonly fencingToken: bigint | string | undefined }
  | { readonly name: string; readonly fencingToken: bigint | string | undefined }

export interface GuardOptions extends TableNames {
  /**
   * Ends the transaction, and its connection, when the client has sent nothing for so many milliseconds: a process that was
   * stopped within it then keeps the name from others for this long only. Unless given, the setting
   * `idle_in_transaction_session_timeout` of the server counts, which is off by default.
   */
  readonly idleLimit?: number | undefined
}

export interface FenceRowsOptions extends TableNames {
  /** The values of columns that select the rows, such as `{ id: 7 }`. */
  readonly where: Readonly<Record<string, string | number | bigint | boolean | null>>
  /** The column with the token; `fencing_token` unless given. */
  readonly column?: string | undefined
}

const LOST = 'LH001'
const FENCED = 'LH002'
const UNDER_SAVEPOINT = 'LH003'

/**
 * Makes the writes of a transaction impossible without the lease. Checks that the lease is held under this fencing token by
 * the clock of the server, and keeps its name from every other grant until the transaction ends: also if the lease expires,
 * is released or broken meanwhile. Heartbeats do not wait for the transaction, and challengers are refused at once.
 *
 * Call it first in the transaction. Rejects with a `LeaseLostError` if the lease is not held: roll back then. Rejects with a
 * `LeaseConfigurationError` outside a transaction, and under a savepoint, whose rollback would free the name while the
 * transaction could still commit. A nested transaction of a library is a savepoint. Errors of the connection are those of the
 * client.
 */
export async function guard(transaction: Transaction, lease: GuardedLease, options: GuardOptions = {}): Promise<void> {
  const optionNames = { schema: true, table: true, idleLimit: true } as const
  checkOptionNames<GuardOptions>('guard', options, optionNames, { store: 'postgres' })
  const name = 'settings' in lease ? lease.settings.name : lease.name
  const details = { leaseName: name, store: 'postgres' }
  if (lease.fencingToken === undefined) {
    const message = `the lease '${name}' is not held: acquire it before the transaction`
    throw new LeaseLostError(message, { ...details, reason: 'expired' })
  }
  const token = checkFencingToken(lease.fencingToken, details)
  const { idleLimit = null } = options
  if (idleLimit !== null && !(Number.isInteger(idleLimit) && idleLimit > 0)) {
    throw wrong(`idleLimit must be a whole number of milliseconds, not ${idleLimit}`)
  }
  const call = `"leasehold"."leases_guard"(${textLiteral(toColumn(name))}, ${token}, ${idleLimit})`
  const guarding = { action: `the guard of lease '${name}'`, leaseName: name }
  const select = `select ${call}::text as guarded, transaction_timestamp() = statement_timestamp() as alone`
  const [row] = await checkedRun(transaction, guarding, new SqlNames(options).in(select), (state) => {
    if (state !== LOST) return undefined
    const message = `the lease '${name}' is not held under the fencing token ${token}: roll back`
    return new LeaseLostError(message, { ...details, reason: 'taken' })
  })
  const { alone } = row as { alone: unknown }
  if (alone !== true && alone !== 't') return
  throw wrong(
    `${guarding.action} was not called within a transaction, so that it ended with its statement: begin one, ` +
      'call guard() in it, write, and commit',
  )
}

/**
 * Rejects the transaction with a `LeaseLostError` if a larger fencing token has written the resource before. Call it in the
 * transaction that writes; the token is stored when that commits, and kept when the resource is deleted. Every writer of the
 * resource must call it. Writers of one resource take turns until their transactions end. `resource` is any text, such as
 * the name of a table. Rejects with a `LeaseConfigurationError` under a savepoint, as `guard` does.
 */
export async function fence(
  transaction: Transaction,
  resource: string,
  fencingToken: bigint | string,
  options: TableNames = {},
): Promise<void> {
  checkOptionNames<TableNames>('fence', options, { schema: true, table: true }, { store: 'postgres' })
  const token = checkFencingToken(fencingToken, { leaseName: resource, store: 'postgres' })
  const call = `select "leasehold"."leases_fence"(${textLiteral(toColumn(resource))}, ${token})::text as fenced`
  const fencing = { action: `the fence of '${resource}'`, leaseName: resource }
  await checkedRun(transaction, fencing, new SqlNames(options).in(call), toFenced(resource, token))
}

/**
 * As `fence`, for rows that have a fencing token in a column of their own: raises it in the rows, and locks them until the
 * transaction ends. Resolves with the number of rows. A row that is not there has no token: use `fence` where rows are
 * created and deleted. `table` is written as in SQL: `accounts`, `billing.accounts`, `"Accounts"`. For a view, it does not
 * notice a savepoint.
 */
export async function fenceRows(
  transaction: Transaction,
  table: string,
  fencingToken: bigint | string,
  options: FenceRowsOptions,
): Promise<number> {
  const optionNames = { schema: true, table: true, where: true, column: true } as const
  checkOptionNames<FenceRowsOptions>('fenceRows', options, optionNames, { store: 'postgres' })
  const { where, column = 'fencing_token', ...names } = options
  if (Object.keys(where).length === 0) throw wrong('where must name the rows to fence, such as { id: 7 }')
  const token = checkFencingToken(fencingToken, { leaseName: table, store: 'postgres' })
  const values = Object.entries(where).map(([key, value]) => [key, value === null ? null : String(value)])
  const args = [
    `${textLiteral(table)}::regclass`,
    token,
    `${jsonLiteral(Object.fromEntries(values))}::jsonb`,
    textLiteral(column),
  ]
  const sql = `select "leasehold"."leases_fence_rows"(${args.join(', ')})::text as count`
  const fencing = { action: `the fence of rows of ${table}`, leaseName: table }
  const [row] = await checkedRun(transaction, fencing, new SqlNames(names).in(sql), toFenced(table, token))
  return Number((row as { count: unknown }).count)
}

function toFenced(resource: string, token: bigint): ToLoss {
  return (state, detail) => (state === FENCED ? fenced(resource, token, String(detail ?? ''), 'postgres') : undefined)
}

type ToLoss = (state: string | undefined, detail: unknown) => LeaseLostError | undefined

/** A call, for errors. */
interface Guarding {
  readonly action: string
  readonly leaseName: string
}

async function checkedRun(
  transaction: Transaction,
  guarding: Guarding,
  sql: string,
  toLoss: ToLoss,
): Promise<readonly unknown[]> {
  try {
    return await runIn(transaction, sql)
  } catch (error) {
    throw toError(error, guarding, toLoss)
  }
}

/** Libraries such as Drizzle wrap the error of the client in one of their own, and Knex puts the SQL into its message. */
function toError(error: unknown, { action, leaseName }: Guarding, toLoss: ToLoss): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const state = sqlStateOf(cause)
    if (state === undefined) continue
    const loss = toLoss(state, (cause as { detail?: unknown }).detail)
    if (loss !== undefined) return Object.assign(loss, { cause: error })
    if (state === UNDER_SAVEPOINT) {
      return wrong(
        `${action} was called under a savepoint, whose rollback would end it: call it first in the outermost transaction, ` +
          'then nested ones are protected too',
        error,
      )
    }
    if (state === '42883' || state === '3F000') return failureOf(action, leaseName, cause)
    return error
  }
  return error
}

/** A text as a literal of SQL. */
function textLiteral(text: string): string {
  return `(${jsonLiteral([text])}::jsonb ->> 0)`
}
