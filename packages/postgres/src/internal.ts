// For @leasehold/sharding of the same version. Nothing here is a part of the API.
export { adapterFor } from './client/client-adapter.js'
export type { ClientAdapter } from './client/connection.js'
export { failureOf, sqlStateOf } from './failure-of.js'
export { hasTable, runMigrations } from './migrate.js'
export { jsonTextLiteral, textLiteral, toColumn } from './sql-text.js'
export { SqlNames } from './table-names.js'
