import { type Migration, namedMigration, runMigrations } from '@leasehold/core/sql-kit'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { adapterFor, type ClientAdapter } from './client/client-adapter.js'
import type { MysqlClient } from './client/mysql-client.js'
import { failureOf, isConflict } from './failure-of.js'
import { tables } from './sql/tables.js'
import { SqlNames, type TableNames } from './table-names.js'

export type { Migration } from '@leasehold/core/sql-kit'

const RIGHTS = 'the user needs CREATE on the database'

/** The statements of `migrate`, one for each table, for a migration tool of your own. Each of them can be run again. */
export function migrations(names: TableNames = {}): readonly Migration[] {
  checkOptionNames<TableNames>('migrations', names, { database: true, table: true }, { store: 'mysql' })
  return migrationsOf(new SqlNames(names))
}

/** The same for names that are checked. */
export function migrationsOf(names: SqlNames): readonly Migration[] {
  return Object.entries(tables).map(([topic, sql], index) => namedMigration(index + 1, topic, sql(names)))
}

/**
 * Creates the tables where they are missing. The store does so by itself, at its first operation, if its client is a pool. Any
 * number of processes may call it at once. Like every statement that creates a table, it commits an open transaction of a
 * connection.
 *
 * The user needs CREATE on the database. Rejects with a `LeaseUnauthorisedError` otherwise.
 */
export async function migrate(client: MysqlClient, names: TableNames = {}): Promise<void> {
  checkOptionNames<TableNames>('migrate', names, { database: true, table: true }, { store: 'mysql' })
  await createTables(adapterFor(client), new SqlNames(names), new AbortableCall())
}

export async function createTables(adapter: ClientAdapter, names: SqlNames, call: StoreCall): Promise<void> {
  await runMigrations({
    run: async () => {
      for (const { sql } of migrationsOf(names)) await adapter.run(sql, call)
    },
    isOvertaken: isConflict,
    toFailure: (error) =>
      call.aborted ? (error as Error) : failureOf(`the migration of ${names.leases}`, names.leases, error, RIGHTS),
  })
}
