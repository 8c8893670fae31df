import { wrong } from './postgres-options.js'

/** Where the leases are kept. */
export interface TableNames {
  /** `leasehold` unless given. */
  readonly schema?: string | undefined
  /** `leases` unless given. The names of the other tables and of the functions begin with it. */
  readonly table?: string | undefined
}

/** The names of tables and functions end with up to 23 more characters, and PostgreSQL cuts names off after 63. */
const LONGEST_TABLE = 40
const LONGEST_SCHEMA = 63

/** The names in the SQL files of the package, and those of a user in their place. */
export class SqlNames {
  readonly schema: string
  readonly table: string

  /** Throws a `LeaseConfigurationError` for a name that would need more than quotes. */
  constructor({ schema = 'leasehold', table = 'leases' }: TableNames = {}) {
    this.schema = checked('schema', schema, LONGEST_SCHEMA)
    this.table = checked('table', table, LONGEST_TABLE)
  }

  /** SQL that was written with the names of the defaults. */
  in(sql: string): string {
    return sql
      .replaceAll('"leasehold"', `"${this.schema}"`)
      .replaceAll("'leasehold'", `'${this.schema}'`)
      .replaceAll('"leases', `"${this.table}`)
  }
}

function checked(option: string, name: unknown, longest: number): string {
  if (typeof name === 'string' && name.length <= longest && /^[A-Za-z_][\w$]*$/.test(name)) return name
  throw wrong(
    `${option} must be up to ${longest} letters, digits and underscores, and not begin with a digit; not ${JSON.stringify(name)}`,
  )
}
