import { checkOptionNames } from '@leasehold/core/store-kit'
import { type Migration, migrate, migrations, type PostgresClient, type TableNames } from '@leasehold/postgres'
import { adapterFor, hasTable, runMigrations, SqlNames } from '@leasehold/postgres/internal'

/** The table, with the names that `SqlNames` replaces. */
export const TABLE = '"leasehold"."leases_entities"'

// #region table
/** One row for each entity. Updates change no indexed column, and pages have room for them. */
const CREATE = `
create table if not exists ${TABLE} (
  region text collate "C" not null,
  id text collate "C" not null,
  -- { version, snapshot, handled }: json keeps the text as it is.
  entity json not null,
  saved_at timestamptz not null default clock_timestamp(),
  constraint "leases_entities_pkey" primary key (region, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
`
// #endregion table

/**
 * Creates the tables that `postgresState` needs: that of the entities, and those of `migrate` of `@leasehold/postgres`, in
 * which the fencing tokens are. It does nothing if they are there. Any number of processes may call it at once.
 *
 * The user needs CREATE on the database, or USAGE and CREATE on the schema if that exists. Rejects with a
 * `LeaseUnauthorisedError` otherwise.
 */
export async function migrateEntities(client: PostgresClient, names: TableNames = {}): Promise<void> {
  checkNames('migrateEntities', names)
  await migrate(client, names)
  const adapter = adapterFor(client)
  const sqlNames = new SqlNames(names)
  const table = sqlNames.in(TABLE)
  await runMigrations(adapter, sqlNames, table, async () =>
    (await hasTable(adapter, table)) ? [] : [sqlNames.in(CREATE)],
  )
}

/**
 * The SQL of `migrateEntities`, for a migration tool of your own, with that of `migrations` of `@leasehold/postgres` before it.
 * Run each of them in a transaction, in their order. Each can be run again at any time.
 */
export async function entityMigrations(names: TableNames = {}): Promise<readonly Pick<Migration, 'name' | 'sql'>[]> {
  checkNames('entityMigrations', names)
  const before = await migrations(names)
  return [...before, { name: 'entities', sql: new SqlNames(names).in(CREATE) }]
}

function checkNames(of: string, names: TableNames): void {
  checkOptionNames<TableNames>(of, names, { schema: true, table: true }, { store: 'postgres' })
}
