import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'
import { MysqlGuard } from '@leasehold/mysql'
import type { Pool } from 'mysql2/promise'

/** A table; each entry is written in a transaction that checks its fencing token. */
export class MysqlLedger implements Ledger {
  readonly #pool: Pool
  readonly #table: string
  readonly #guard: MysqlGuard

  constructor(pool: Pool, table: string) {
    this.#pool = pool
    this.#table = table
    this.#guard = new MysqlGuard({ table })
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    const connection = await this.#pool.getConnection()
    try {
      await connection.beginTransaction()
      await this.#guard.transact('ledger', entry.token, connection)
      await connection.query(`insert into ${this.#table}_ledger (line) values (?)`, [toLine(entry)])
      await connection.commit()
    } catch (error) {
      await connection.rollback()
      throw error
    } finally {
      connection.release()
    }
  }
  // #endregion fenced

  close(): Promise<void> {
    return this.#pool.end()
  }
}

export async function createLedger(pool: Pool, table: string): Promise<void> {
  await pool.query(`create table ${table}_ledger (place bigint auto_increment primary key, line text not null)`)
}

/** In the order in which the entries were written. */
export async function readMysqlLedger(pool: Pool, table: string): Promise<readonly Entry[]> {
  const [rows] = await pool.query(`select line from ${table}_ledger order by place`)
  return parseLedger((rows as { line: string }[]).map(({ line }) => line).join(''))
}

export async function dropTables(pool: Pool, table: string): Promise<void> {
  for (const suffix of ['', '_waiters', '_fences', '_ledger']) {
    await pool.query(`drop table if exists ${table}${suffix}`)
  }
}
