export type {
  PgClient,
  PgPool,
  PgPoolClient,
  PgRows,
  PostgresClient,
  PostgresJs,
  PostgresJsQuery,
} from './client/postgres-client.js'
export type { PgTransaction, PostgresJsTransaction, Transaction } from './client/transaction.js'
export type { AdvisoryKey, PostgresCompat } from './compat/advisory-key.js'
export { type Migration, migrate, migrations } from './migrate.js'
export { type FencedRowsOptions, PostgresGuard, type UnderLeaseOptions } from './postgres-guard.js'
export { postgresLease } from './postgres-lease.js'
export { PostgresLeaseStore, type PostgresLeaseStoreOptions } from './postgres-lease-store.js'
export { type PostgresOptions, postgresOptions } from './postgres-options.js'
export type { TableNames } from './table-names.js'
