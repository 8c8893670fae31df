export { entityMigrations, migrateEntities } from './state/entity-table.js'
export { type PostgresStateOptions, postgresState } from './state/postgres-state.js'
