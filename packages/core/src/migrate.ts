// Leases that move from one store to another while processes are replaced.

export { migrate } from './migrate/migrate.js'
