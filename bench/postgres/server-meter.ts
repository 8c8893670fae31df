import { Client } from 'pg'
import { processorTimeOf, statOf } from '../support/processor-time.js'

export interface ServerReading {
  /** Processor time of all processes of the server, also of those that have exited, in milliseconds. */
  readonly cpu: number
  /** Bytes of the write-ahead log since the server was made. */
  readonly wal: number
  readonly transactions: number
}

/** The counts of a table. */
export interface TableReading {
  readonly updates: number
  /** Updates that changed no index, because the new version of the row is on the same page. */
  readonly hot: number
  readonly dead: number
  readonly autovacuums: number
  /** Bytes of the table, of its indexes, and of both. */
  readonly size: number
  readonly indexes: number
}

/** Reads the counters of a server on this machine. */
export class ServerMeter {
  readonly #client: Client
  #connected: Promise<unknown> | undefined

  constructor(url: string) {
    this.#client = new Client({ connectionString: url, application_name: 'meter' })
    this.#client.on('error', () => {})
  }

  async query<Row = Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#connected ??= this.#client.connect()
    await this.#connected
    return (await this.#client.query(text, [...values])).rows as Row[]
  }

  async read(): Promise<ServerReading> {
    const [row] = await this.query<{ wal: string; transactions: string; pid: number }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal,
              (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS transactions,
              pg_backend_pid() AS pid`,
    )
    const pid = row?.pid ?? 0
    return {
      cpu: processorTimeOf(Number(statOf(pid)[1]), pid),
      wal: Number(row?.wal),
      transactions: Number(row?.transactions),
    }
  }

  /** The counts of one table. Some sessions report theirs late; this does not wait for them. */
  async table(name: string): Promise<TableReading> {
    const [row] = await this.query<Record<string, string>>(
      `SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot, n_dead_tup AS dead, autovacuum_count AS autovacuums,
              pg_table_size(relid) AS size, pg_indexes_size(relid) AS indexes
         FROM pg_stat_all_tables WHERE relid = $1::regclass`,
      [name],
    )
    const of = (column: string): number => Number(row?.[column])
    return {
      updates: of('updates'),
      hot: of('hot'),
      dead: of('dead'),
      autovacuums: of('autovacuums'),
      size: of('size'),
      indexes: of('indexes'),
    }
  }

  close(): Promise<void> {
    return this.#client.end()
  }
}
