import { type Migration, namedMigration, runMigrations as runUntilDone } from '@leasehold/core/sql-kit'
import { AbortableCall } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { adapterFor } from './client/client-adapter.js'
import type { ClientAdapter } from './client/connection.js'
import type { PostgresClient } from './client/postgres-client.js'
import { failureOf, sqlStateOf } from './failure-of.js'
import { grants } from './sql/grants.js'
import { guard } from './sql/guard.js'
import { holders } from './sql/holders.js'
import { queue } from './sql/queue.js'
import { records } from './sql/records.js'
import { run } from './sql/run.js'
import { tables } from './sql/tables.js'
import { SqlNames, type TableNames } from './table-names.js'

export type { Migration } from '@leasehold/core/sql-kit'

/**
 * A part that changes gets the next free version, which brings older tables up to date. The names of functions end with the
 * version of their signature, so that older and newer clients can share the tables.
 */
const PARTS = [
  { version: 1, name: 'tables', sql: tables },
  { version: 5, name: 'guard', sql: guard },
  { version: 9, name: 'operations', sql: [records, queue, grants, holders, run].join('') },
]

/**
 * The errors of a migration when another one has just ended: conflicts, and names that are taken. Under a stricter level
 * than READ COMMITTED, a migration that waited does not see the outcome of the other.
 */
const OVERTAKEN = new Set(['40001', '40P01', '42P06', '42P07', '42710', '23505'])

const RIGHTS =
  'the user needs CREATE on the database, or USAGE and CREATE on the schema if that exists, and must own the tables and ' +
  'functions that are there'

/** The SQL of `migrate`, for a migration tool of your own. Run each of them in a transaction, in their order. */
export async function migrations(names: TableNames = {}): Promise<readonly Migration[]> {
  checkNames('migrations', names)
  const sqlNames = new SqlNames(names)
  return PARTS.map(({ version, name, sql }) => {
    const text = `-- Leases in PostgreSQL, version ${version}: the ${name}. It can be run again at any time.
${sql}
insert into "leasehold"."leases_migrations" (version) values (${version}) on conflict do nothing;
`
    return namedMigration(version, name, sqlNames.in(text))
  })
}

/**
 * Creates the schema, the tables and the functions, or brings older ones up to date, in one transaction. Leases stay as
 * they are, and clients of older versions keep working. It does nothing if the tables are as new as this package, or newer.
 * Any number of processes may call it at once.
 *
 * The user needs CREATE on the database, or USAGE and CREATE on the schema if that exists, and must own tables and functions
 * that are brought up to date. Rejects with a `LeaseUnauthorisedError` otherwise.
 */
export async function migrate(client: PostgresClient, names: TableNames = {}): Promise<void> {
  checkNames('migrate', names)
  const adapter = adapterFor(client)
  const sqlNames = new SqlNames(names)
  const all = await migrations(names)
  await runMigrations(adapter, sqlNames, sqlNames.in('"leasehold"."leases"'), async () => {
    const version = await versionOf(adapter, sqlNames)
    return all.filter((migration) => migration.version > version).map(({ sql }) => sql)
  })
}

/** Runs the SQL that is missing in one transaction, again if another process does so too. `table`: for the error. */
export async function runMigrations(
  adapter: ClientAdapter,
  names: SqlNames,
  table: string,
  missing: () => Promise<readonly string[]>,
): Promise<void> {
  await runUntilDone({
    run: async () => {
      const parts = await missing()
      if (parts.length === 0) return
      // A message with several statements is one transaction, which holds the lock until its end.
      const lock = `select pg_advisory_xact_lock(hashtextextended('leasehold migrate "${names.schema}"', 0));`
      await adapter.run([lock, ...parts].join('\n'), new AbortableCall())
    },
    isOvertaken: (error) => OVERTAKEN.has(sqlStateOf(error) ?? ''),
    toFailure: (error) => failureOf(`the migration of ${table}`, table, error, RIGHTS),
  })
}

/** Whether there is a table, by its name in SQL. */
export async function hasTable(adapter: ClientAdapter, name: string): Promise<boolean> {
  const [found] = await adapter.run(`select to_regclass('${name}')::text as answer`, new AbortableCall())
  return answerIn(found) !== null
}

/** The version of the tables; 0 if there are none. */
async function versionOf(adapter: ClientAdapter, names: SqlNames): Promise<number> {
  if (!(await hasTable(adapter, names.in('"leasehold"."leases_migrations"')))) return 0
  const [row] = await adapter.run(
    names.in('select coalesce(max(version), 0)::text as answer from "leasehold"."leases_migrations"'),
    new AbortableCall(),
  )
  return Number(answerIn(row))
}

/** The only column of a row. */
function answerIn(row: unknown): unknown {
  return Object.values(row as object)[0]
}

function checkNames(of: string, names: TableNames): void {
  checkOptionNames<TableNames>(of, names, { schema: true, table: true }, { store: 'postgres' })
}
