import { readFile } from 'node:fs/promises'
import { AbortableCall, checkOptionNames } from '@leasehold/core/store'
import { adapterFor } from './client/client-adapter.js'
import type { ClientAdapter } from './client/connection.js'
import type { PostgresClient } from './client/postgres-client.js'
import { failureOf, sqlStateOf } from './failure-of.js'
import { SqlNames, type TableNames } from './table-names.js'

/** A file of SQL in the package. It can be run again at any time. */
export interface Migration {
  /** The files are run in the order of their versions. */
  readonly version: number
  /** Such as `001-tables`. */
  readonly name: string
  readonly sql: string
}

const FILES = ['001-tables', '002-operations', '003-guard']

/**
 * The errors of a migration when another one has just ended: conflicts, and names that are taken. Under a stricter level
 * than READ COMMITTED, a migration that waited does not see the outcome of the other.
 */
const OVERTAKEN = new Set(['40001', '40P01', '42P06', '42P07', '42710', '23505'])

/** How often a migration is repeated that another process got in the way of. */
const ATTEMPTS = 5

/** The SQL files of the package, for a migration tool of your own. Run each of them in a transaction, in their order. */
export async function migrations(names: TableNames = {}): Promise<readonly Migration[]> {
  checkNames('migrations', names)
  const sqlNames = new SqlNames(names)
  return await Promise.all(
    FILES.map(async (name, place) => {
      const text = await readFile(new URL(`../sql/${name}.sql`, import.meta.url), 'utf8')
      return { version: place + 1, name, sql: sqlNames.in(text) }
    }),
  )
}

/**
 * Creates the schema, the tables and the functions, or brings older ones up to date, in one transaction. Leases stay as
 * they are, and clients of older versions keep working. It does nothing if the tables are as new as this package, or newer.
 * Any number of processes may call it at once. The user needs the right to create them.
 */
export async function migrate(client: PostgresClient, names: TableNames = {}): Promise<void> {
  checkNames('migrate', names)
  const adapter = adapterFor(client)
  const sqlNames = new SqlNames(names)
  const files = await migrations(names)
  for (let attempt = 1; ; attempt += 1) {
    try {
      const version = await versionOf(adapter, sqlNames)
      const missing = files.filter((file) => file.version > version)
      if (missing.length === 0) return
      // A message with several statements is one transaction, which holds the lock until its end.
      const lock = `select pg_advisory_xact_lock(hashtextextended('leasehold migrate "${sqlNames.schema}"', 0));`
      return void (await adapter.run([lock, ...missing.map(({ sql }) => sql)].join('\n'), new AbortableCall()))
    } catch (error) {
      if (attempt < ATTEMPTS && OVERTAKEN.has(sqlStateOf(error) ?? '')) continue
      throw failureOf('the migration', sqlNames.in('"leasehold"."leases"'), error)
    }
  }
}

/** The version of the tables; 0 if there are none. */
async function versionOf(adapter: ClientAdapter, names: SqlNames): Promise<number> {
  const [found] = await adapter.run(
    names.in(`select to_regclass('"leasehold"."leases_migrations"')::text as answer`),
    new AbortableCall(),
  )
  if (answerIn(found) === null) return 0
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
