import type { QueryConfig } from 'pg'

/** The parameters of the statements. */
export interface LockRow {
  readonly name: string
  readonly lockedBy: string
  /** In milliseconds. */
  readonly lockAtMostFor: number
  /** The wall clock of the client, in milliseconds since 1970. */
  readonly now: number
}

/** One statement of each kind; the lock was got, extended or unlocked if it changes a row. */
export interface ShedlockStatements {
  insert(row: LockRow): QueryConfig
  update(row: LockRow): QueryConfig
  extend(row: LockRow): QueryConfig
  unlock(row: LockRow): QueryConfig
}

const clientNow = (row: LockRow): Date => new Date(row.now)
const clientUntil = (row: LockRow): Date => new Date(row.now + row.lockAtMostFor)

/**
 * Those of ShedLock's `SqlStatementsSource`, its default: the clients compare with their own clocks, which have to agree.
 * The unlock has no condition on the owner, and so it frees the name of anybody.
 */
export const byClientTime: ShedlockStatements = {
  insert: (row) => ({
    text: `INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, $2, $3, $4)
      ON CONFLICT (name) DO NOTHING`,
    values: [row.name, clientUntil(row), clientNow(row), row.lockedBy],
  }),
  update: (row) => ({
    text: `UPDATE shedlock SET lock_until = $2, locked_at = $3, locked_by = $4 WHERE name = $1 AND lock_until <= $3`,
    values: [row.name, clientUntil(row), clientNow(row), row.lockedBy],
  }),
  extend: (row) => ({
    text: `UPDATE shedlock SET lock_until = $2 WHERE name = $1 AND locked_by = $4 AND lock_until > $3`,
    values: [row.name, clientUntil(row), clientNow(row), row.lockedBy],
  }),
  unlock: (row) => ({
    text: `UPDATE shedlock SET lock_until = $2 WHERE name = $1`,
    values: [row.name, clientNow(row)],
  }),
}

const NOW = `timezone('utc', clock_timestamp())`
const UNTIL = `${NOW} + $2::int * interval '1 millisecond'`

/** Those of `PostgresSqlServerTimeStatementsSource`, which `usingDbTime()` selects. The unlock asks for the owner. */
export const byDatabaseTime: ShedlockStatements = {
  insert: ({ name, lockAtMostFor, lockedBy }) => ({
    text: `INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, ${UNTIL}, ${NOW}, $3)
      ON CONFLICT (name) DO UPDATE SET lock_until = ${UNTIL}, locked_at = ${NOW}, locked_by = $3
      WHERE shedlock.name = $1 AND shedlock.lock_until <= ${NOW}`,
    values: [name, lockAtMostFor, lockedBy],
  }),
  update: ({ name, lockAtMostFor, lockedBy }) => ({
    text: `UPDATE shedlock SET lock_until = ${UNTIL}, locked_at = ${NOW}, locked_by = $3
      WHERE name = $1 AND lock_until <= ${NOW}`,
    values: [name, lockAtMostFor, lockedBy],
  }),
  extend: ({ name, lockAtMostFor, lockedBy }) => ({
    text: `UPDATE shedlock SET lock_until = ${UNTIL} WHERE name = $1 AND locked_by = $3 AND lock_until > ${NOW}`,
    values: [name, lockAtMostFor, lockedBy],
  }),
  unlock: ({ name, lockedBy }) => ({
    text: `UPDATE shedlock SET lock_until = ${NOW} WHERE name = $1 AND locked_by = $2`,
    values: [name, lockedBy],
  }),
}
