// Leases that move from one store to another while processes are replaced.

export { type CopiedLeases, type CopyLeasesOptions, copyLeases } from './migrate/copy-leases.js'
export { migrate } from './migrate/migrate.js'
export { migrateLease } from './migrate/migrate-lease.js'
