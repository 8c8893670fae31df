export { MysqlGuard } from './mysql-guard.js'
export { mysqlLease } from './mysql-lease.js'
export { MysqlLeaseStore, type MysqlLeaseStoreOptions } from './mysql-lease-store.js'
export { type MysqlOptions, mysqlOptions } from './mysql-options.js'
