/** A part of the tables and functions. Its SQL can be run again at any time. */
export interface Migration {
  /** Migrations are run in the order of their versions. A missing number was replaced by a larger one. */
  readonly version: number
  /** Such as `001-tables`. */
  readonly name: string
  readonly sql: string
}

export interface MigrationRules {
  /** Runs what is missing. */
  readonly run: () => Promise<void>
  /** Whether an error means that another migration has got in the way, so that it is tried again. */
  readonly isOvertaken: (error: unknown) => boolean
  readonly toFailure: (error: unknown) => Error
}

/** How often a migration is tried while other processes get in its way. */
const ATTEMPTS = 5

/** A migration with the name that tools sort by. */
export function namedMigration(version: number, topic: string, sql: string): Migration {
  return { version, name: `${String(version).padStart(3, '0')}-${topic}`, sql }
}

/** Runs a migration, again if another process does so too. */
export async function runMigrations({ run, isOvertaken, toFailure }: MigrationRules): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt < ATTEMPTS && isOvertaken(error)) continue
      throw toFailure(error)
    }
  }
}
