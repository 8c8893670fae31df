import { checkedSqlName } from '@leasehold/core/sql-kit'
import { misconfigured } from './mysql-options.js'

/** Where the leases are kept. */
export interface TableNames {
  /** The database of the connection unless given. */
  readonly database?: string | undefined
  /** `leasehold_leases` unless given. The names of the other two tables begin with it. */
  readonly table?: string | undefined
}

/** The names of the tables end with up to 8 more characters, and MySQL takes 64. */
const LONGEST_TABLE = 56
const LONGEST_DATABASE = 64

/** The names of the tables, as SQL writes them. */
export class SqlNames {
  readonly leases: string
  readonly waiters: string
  readonly fences: string

  /** Throws a `LeaseConfigurationError` for a name that would need more than quotes. */
  constructor({ database, table = 'leasehold_leases' }: TableNames = {}) {
    const name = checkedSqlName(misconfigured, 'table', table, LONGEST_TABLE)
    const prefix =
      database === undefined ? '' : `\`${checkedSqlName(misconfigured, 'database', database, LONGEST_DATABASE)}\`.`
    this.leases = `${prefix}\`${name}\``
    this.waiters = `${prefix}\`${name}_waiters\``
    this.fences = `${prefix}\`${name}_fences\``
  }
}
