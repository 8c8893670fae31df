import { firstCause, lostUnderLease, underLease } from '@leasehold/core/sql-kit'
import { Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, untilAborted } from '@leasehold/core/store-kit'
import { readIn, runIn, type Transaction } from './client/transaction.js'
import { errorNumberOf, failureOf, NO_SAVEPOINT, NO_TABLE, NOT_PREPARABLE, prismaNumberOf } from './failure-of.js'
import { misconfigured } from './mysql-options.js'
import { fenceStatements, guardStatement, LONGEST_RESOURCE, rowsStatements } from './sql/guard.js'
import { SqlNames, type TableNames } from './table-names.js'

export interface FencedRowsOptions extends GuardOptions {
  /** The values of columns that select the rows, such as `{ id: 7 }`. */
  readonly where: Readonly<Record<string, string | number | bigint | boolean | null>>
  /** The column with the token; `fencing_token` unless given. */
  readonly column?: string | undefined
}

/**
 * Protects the transactions of users. Call a method first in the transaction, then write. Roll back if it rejects: with a
 * `LeaseLostError` for a token that is too old; with a `LeaseConfigurationError` outside a transaction. Call it in the
 * outermost transaction: a nested one of a library is a savepoint, and its rollback undoes the token of a fence. Errors of the
 * connection are those of the client.
 *
 * A statement that is under way when a `signal` aborts goes on: roll back as well.
 */
export class MysqlGuard implements FencingGuard {
  readonly #names: SqlNames
  readonly #aborts = new AbortListeners()

  /** The tables of `migrate`. Throws a `LeaseConfigurationError` for an unknown or invalid option. */
  constructor(options: TableNames = {}) {
    checkOptionNames<TableNames>('MysqlGuard', options, { database: true, table: true }, { store: 'mysql' })
    this.#names = new SqlNames(options)
  }

  /**
   * Rejects the transaction if a larger fencing token has written the resource before. The token is stored when the
   * transaction commits, and kept when the resource is deleted. Every writer of the resource must call it. Writers of one
   * resource take turns until their transactions end. `resource` is any text of up to 1,024 bytes, such as the name of a table.
   */
  async transact(
    resource: string,
    fencingToken: bigint | string,
    transaction: Transaction,
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('mysql', resource, fencingToken, options)
    if (Buffer.byteLength(resource) > LONGEST_RESOURCE) {
      throw misconfigured(`the resource must be at most ${LONGEST_RESOURCE} bytes`)
    }
    const { write, read } = fenceStatements(this.#names, resource, fence.token)
    await this.#inTransaction(transaction, fence, `the fence of '${resource}'`, async () => {
      await runIn(transaction, write)
      fence.check(await this.#read(transaction, read))
    })
  }

  /**
   * As `transact`, for rows that have a fencing token in a column of their own: raises it in the rows, and locks them until
   * the transaction ends. Resolves with the number of rows. A row that is not there has no token: use `transact` where rows
   * are created and deleted. `table` is written as in SQL: `accounts`, `` `billing`.`accounts` ``.
   */
  async transactRows(
    table: string,
    fencingToken: bigint | string,
    transaction: Transaction,
    options: FencedRowsOptions,
  ): Promise<number> {
    const fence = new Fence('mysql', table, fencingToken, options, ['where', 'column'])
    const { where, column = 'fencing_token' } = options
    if (Object.keys(where ?? {}).length === 0) {
      throw misconfigured('where must name the rows to fence, such as { id: 7 }')
    }
    const { read, write } = rowsStatements(table, column, where, fence.token)
    return await this.#inTransaction(transaction, fence, `the fence of rows of ${table}`, async () => {
      const [count = '0', seen = ''] = (await this.#read(transaction, read)).split(',')
      fence.check(seen === '' ? undefined : seen)
      await runIn(transaction, write)
      return Number(count)
    })
  }

  /**
   * Makes the writes of a transaction impossible without the lease, which is on the same server. Checks that the lease is held
   * under this fencing token by the clock of the server, and keeps its name from every other grant until the transaction ends:
   * also if the lease expires, is released or broken meanwhile. Heartbeats do not wait for the transaction (but under
   * SERIALIZABLE they do), and challengers are refused at once. On Galera and on Group Replication with several primaries, it
   * protects only from grants of the same node.
   *
   * `fencingToken` is that of the grant; `undefined`, as of a lease that is not held, is rejected with a `LeaseLostError` too.
   */
  async transactUnderLease(
    name: string,
    fencingToken: bigint | string | undefined,
    transaction: Transaction,
    options: GuardOptions = {},
  ): Promise<void> {
    const fence = underLease('mysql', fencingToken, (token) => new Fence('mysql', name, token, options))
    const statement = guardStatement(this.#names, name, fence.token)
    await this.#inTransaction(transaction, fence, `the guard of lease '${name}'`, async () => {
      if ((await readIn(transaction, statement)) !== '1') throw lostUnderLease('mysql', fence)
    })
  }

  /**
   * Runs the work between two statements that show whether they are in one transaction: a savepoint outside of one is gone
   * after its statement.
   */
  async #inTransaction<T>(transaction: Transaction, fence: Fence, action: string, work: () => Promise<T>): Promise<T> {
    const both = async (): Promise<T> => {
      const isMarked = await isRun(transaction, 'savepoint leasehold_guard')
      const outcome = await work()
      if (!isMarked || (await isRun(transaction, 'release savepoint leasehold_guard'))) return outcome
      throw misconfigured(
        `${action} was not called within a transaction, so that it ended with its statement: begin one, call the guard in ` +
          'it, write, and commit',
      )
    }
    const done = both().catch((error: unknown) => {
      const [cause] = firstCause(error, (found) => (errorNumberOf(found) === NO_TABLE ? found : undefined)) ?? []
      throw cause === undefined ? error : failureOf(action, fence.resource, cause)
    })
    return await fence.send(this.#aborts, (call) => untilAborted(done, call))
  }

  /** Reads the only column of a query that has a row in each case. */
  async #read(transaction: Transaction, sql: string): Promise<string> {
    const text = await readIn(transaction, sql)
    if (text !== undefined) return text
    throw misconfigured(
      'the transaction ran a query and did not return its rows: return an array of them from your function',
    )
  }
}

/** Runs a statement about a savepoint. Returns whether it was run, and there was one. */
async function isRun(transaction: Transaction, sql: string): Promise<boolean> {
  try {
    await runIn(transaction, sql)
    return true
  } catch (error) {
    // Prisma prepares each statement, and the server prepares none about savepoints.
    const found = firstCause(error, (cause) => refusalOf(cause))
    if (found === undefined) throw error
    return false
  }
}

function refusalOf(cause: Error): number | undefined {
  const number = errorNumberOf(cause) ?? prismaNumberOf(cause)
  return number === NO_SAVEPOINT || number === NOT_PREPARABLE ? number : undefined
}
