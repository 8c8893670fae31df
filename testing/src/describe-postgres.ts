import { describeUnless } from './describe-unless.js'
import { whyNoPgBouncer, whyNoPostgres } from './postgres-binary.js'

/** Tests on real servers: skipped where there is no PostgreSQL. */
export function describePostgres(title: string, tests: () => void): void {
  describeUnless(whyNoPostgres, title, tests)
}

/** Tests behind a PgBouncer: skipped where there is none. */
export function describePgBouncer(title: string, tests: () => void): void {
  describeUnless(whyNoPgBouncer, title, tests)
}
