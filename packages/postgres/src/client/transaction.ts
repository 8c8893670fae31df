import { misconfigured } from '../postgres-options.js'
import type { PgRows, PostgresJsQuery } from './postgres-client.js'

/**
 * The part of a transaction with a method `query` that guards use: the `Client` of pg or a connection of its `Pool`, the
 * `EntityManager` or the `QueryRunner` of TypeORM, the task of pg-promise.
 */
export interface PgTransaction {
  /** Resolves with the rows, or with an object that has them. */
  query(text: string): PromiseLike<PgRows | readonly unknown[]>
}

/** The part of the `sql` that `sql.begin` of postgres.js passes on, that guards use. */
export interface PostgresJsTransaction {
  unsafe(text: string): PostgresJsQuery
  savepoint(...args: never[]): unknown
}

/**
 * An open transaction: the client of pg that has begun it, the `sql` of `sql.begin` of postgres.js, the `EntityManager` of
 * TypeORM, the task of pg-promise, or a function that runs SQL without parameters in it and resolves with the rows, for any
 * other library.
 */
export type Transaction = PgTransaction | PostgresJsTransaction | ((sql: string) => PromiseLike<readonly unknown[]>)

/** Runs a statement in the transaction. Rejects with a `LeaseConfigurationError` if it is no transaction, or returns no rows. */
export async function runIn(transaction: Transaction, sql: string): Promise<readonly unknown[]> {
  const result: unknown = await queryIn(transaction, sql)
  const rows: unknown = Array.isArray(result) ? result : (result as PgRows | null | undefined)?.rows
  if (Array.isArray(rows) && rows.length > 0) return rows
  throw misconfigured(
    'the transaction ran a statement and did not return its rows: return an array of them from your function',
  )
}

function queryIn(transaction: Transaction, sql: string): PromiseLike<unknown> {
  const kind = typeof transaction
  if ((kind === 'object' || kind === 'function') && transaction !== null) {
    if ('unsafe' in transaction) {
      if ('savepoint' in transaction) return transaction.unsafe(sql)
    } else if (typeof transaction === 'function') {
      // A transaction of Knex is a function too, which takes the name of a table.
      if (!('raw' in transaction)) return transaction(sql)
    } else if ('query' in transaction && !('totalCount' in transaction)) return transaction.query(sql)
  }
  throw misconfigured(
    'this is no transaction: pass the client of pg that has begun one (not the Pool), the sql that sql.begin of ' +
      'postgres.js passes on, the EntityManager of TypeORM, the task of pg-promise, or a function that runs SQL in a ' +
      'transaction of another library and returns its rows, such as async (text) => (await trx.raw(text)).rows of Knex',
  )
}
