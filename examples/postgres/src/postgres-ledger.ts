import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'
import { PostgresGuard } from '@leasehold/postgres'
import type { Pool } from 'pg'

/** A table; each entry is written in a transaction that checks its fencing token. */
export class PostgresLedger implements Ledger {
  readonly #pool: Pool
  readonly #schema: string
  readonly #guard: PostgresGuard

  constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#schema = schema
    this.#guard = new PostgresGuard({ schema })
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await client.query('BEGIN')
      await this.#guard.transact('ledger', entry.token, client)
      await client.query(`INSERT INTO ${this.#schema}.ledger (line) VALUES ($1)`, [toLine(entry)])
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  }
  // #endregion fenced

  close(): Promise<void> {
    return this.#pool.end()
  }
}

export async function createLedger(pool: Pool, schema: string): Promise<void> {
  await pool.query(`CREATE TABLE ${schema}.ledger (place bigint GENERATED ALWAYS AS IDENTITY, line text NOT NULL)`)
}

/** In the order in which the entries were written. */
export async function readPostgresLedger(pool: Pool, schema: string): Promise<readonly Entry[]> {
  const { rows } = await pool.query<{ line: string }>(`SELECT line FROM ${schema}.ledger ORDER BY place`)
  return parseLedger(rows.map(({ line }) => line).join(''))
}
