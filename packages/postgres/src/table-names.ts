import { checkedSqlName } from '@leasehold/core/sql-kit'
import { misconfigured } from './postgres-options.js'

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

/** The names in the SQL of the package, and those of a user in their place. */
export class SqlNames {
  readonly schema: string
  readonly table: string

  /** Throws a `LeaseConfigurationError` for a name that would need more than quotes. */
  constructor({ schema = 'leasehold', table = 'leases' }: TableNames = {}) {
    this.schema = checkedSqlName(misconfigured, 'schema', schema, LONGEST_SCHEMA)
    this.table = checkedSqlName(misconfigured, 'table', table, LONGEST_TABLE)
  }

  /** Returns the SQL with these names in place of the default ones, with which it was written. */
  in(sql: string): string {
    // One pass: a name must not be replaced in another one.
    return sql.replaceAll(/"leasehold"|'leasehold'|"leases|\$\$/g, (found) => {
      if (found === '"leasehold"') return `"${this.schema}"`
      if (found === "'leasehold'") return `'${this.schema}'`
      return found === '$$' ? this.#quote : `"${this.table}`
    })
  }

  /** Begins and ends the body of a function. It must not occur in a name in the body, so it is longer than the names. */
  get #quote(): string {
    if (![this.schema, this.table].some((name) => name.includes('$$'))) return '$$'
    return `$${'_'.repeat(Math.max(this.schema.length, this.table.length))}$`
  }
}
