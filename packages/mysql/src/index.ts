export type {
  Mysql2Callbacks,
  MysqlClient,
  MysqlConnection,
  MysqlPool,
  MysqlPoolConnection,
} from './client/mysql-client.js'
export type { Mysql2CallbackTransaction, MysqlTransaction, Transaction } from './client/transaction.js'
export { type Migration, migrate, migrations } from './migrate.js'
export { type FencedRowsOptions, MysqlGuard } from './mysql-guard.js'
export { mysqlLease } from './mysql-lease.js'
export { MysqlLeaseStore, type MysqlLeaseStoreOptions } from './mysql-lease-store.js'
export { type MysqlOptions, mysqlOptions } from './mysql-options.js'
export type { TableNames } from './table-names.js'
