import { misconfigured } from '../mysql-options.js'
import { answerOf, columnIn } from './answer.js'

/**
 * The part of a transaction with a method `query` that guards use: the connection of mysql2 or mariadb that has begun it, the
 * `EntityManager` or the `QueryRunner` of TypeORM.
 */
export interface MysqlTransaction {
  query(sql: string): PromiseLike<unknown>
}

/** A connection of mysql2 with callbacks that has begun a transaction. */
export interface Mysql2CallbackTransaction {
  promise(): MysqlTransaction
}

/**
 * An open transaction: the connection of mysql2 or mariadb that has begun it, the `EntityManager` of TypeORM, or a function
 * that runs SQL without parameters in it and resolves with the rows, for any other library.
 */
export type Transaction = MysqlTransaction | Mysql2CallbackTransaction | ((sql: string) => PromiseLike<unknown>)

/** Runs a statement in the transaction, and resolves with the rows. Rejects with a `LeaseConfigurationError` if it is no transaction. */
export async function runIn(transaction: Transaction, sql: string): Promise<readonly unknown[]> {
  return answerOf(await queryIn(transaction, sql)).rows
}

/** The only column of the first row of a query; `undefined` if it has no row. */
export async function readIn(transaction: Transaction, sql: string): Promise<string | undefined> {
  const result = answerOf(await queryIn(transaction, sql))
  return columnIn(result.rows[0])
}

function queryIn(transaction: Transaction, sql: string): PromiseLike<unknown> {
  const kind = typeof transaction
  if ((kind === 'object' || kind === 'function') && transaction !== null && !('getConnection' in transaction)) {
    if (typeof transaction === 'function') {
      // A transaction of Knex is a function too, which takes the name of a table.
      if (!('raw' in transaction)) return transaction(sql)
    } else if ('promise' in transaction && typeof transaction.promise === 'function') {
      return (transaction as Mysql2CallbackTransaction).promise().query(sql)
    } else if ('query' in transaction) return transaction.query(sql)
  }
  throw misconfigured(
    'this is no transaction: pass the connection of mysql2 or mariadb that has begun one (not the pool), the EntityManager of ' +
      'TypeORM, or a function that runs SQL in a transaction of another library and returns its rows, such as ' +
      'async (text) => (await trx.raw(text))[0] of Knex',
  )
}
