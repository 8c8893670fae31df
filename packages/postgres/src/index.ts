export { PostgresGuard } from './postgres-guard.js'
export { postgresLease } from './postgres-lease.js'
export { PostgresLeaseStore, type PostgresLeaseStoreOptions } from './postgres-lease-store.js'
export { type PostgresOptions, postgresOptions } from './postgres-options.js'
