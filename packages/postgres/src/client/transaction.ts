import { wrong } from '../postgres-options.js'
import type { PgRows, PostgresJsQuery } from './postgres-client.js'

/** The part of a `Client` of pg, or of a connection of its `Pool`, that guards use. */
export interface PgTransaction {
  query(text: string): Promise<PgRows>
}

/** The part of the `sql` that `sql.begin` of postgres.js passes on, that guards use. */
export interface PostgresJsTransaction {
  unsafe(text: string): PostgresJsQuery
  savepoint(...args: never[]): unknown
}

/**
 * An open transaction: the client of pg that has begun it, the `sql` of `sql.begin` of postgres.js, or a function that runs
 * SQL without parameters in it and resolves with the rows, for any other library.
 */
export type Transaction = PgTransaction | PostgresJsTransaction | ((sql: string) => PromiseLike<readonly unknown[]>)

/** Runs a statement in the transaction. Throws a `LeaseConfigurationError` for a value that is not a transaction. */
export function runIn(transaction: Transaction, sql: string): PromiseLike<readonly unknown[]> {
  const kind = typeof transaction
  if ((kind === 'object' || kind === 'function') && transaction !== null) {
    if ('unsafe' in transaction) {
      if ('savepoint' in transaction) return transaction.unsafe(sql)
    } else if (typeof transaction === 'function') return transaction(sql)
    else if ('query' in transaction && !('totalCount' in transaction)) return rowsOf(transaction, sql)
  }
  throw wrong(
    'this is no transaction: pass the client of pg that has begun one (not the Pool), the sql that sql.begin of ' +
      'postgres.js passes on, or a function that runs SQL in a transaction of another library and returns its rows',
  )
}

async function rowsOf(client: PgTransaction, sql: string): Promise<readonly unknown[]> {
  return (await client.query(sql)).rows
}
