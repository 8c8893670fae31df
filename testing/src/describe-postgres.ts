import { describe } from 'vitest'
import { whyNoPgBouncer, whyNoPostgres } from './postgres-binary.js'

/** Tests on real servers: skipped, with the reason in their name, where there is no PostgreSQL. */
export function describePostgres(title: string, tests: () => void): void {
  describe.skipIf(whyNoPostgres !== undefined)(named(title, whyNoPostgres), tests)
}

/** Tests behind a PgBouncer: skipped, with the reason in their name, where there is none. */
export function describePgBouncer(title: string, tests: () => void): void {
  describe.skipIf(whyNoPgBouncer !== undefined)(named(title, whyNoPgBouncer), tests)
}

function named(title: string, why: string | undefined): string {
  return why === undefined ? title : `${title}: ${why}`
}
