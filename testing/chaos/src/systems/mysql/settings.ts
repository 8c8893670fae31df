/** What a client process of MySQL or MariaDB gets. */
export interface MysqlClientSettings {
  /** Of its own proxy. */
  readonly port: number
  readonly operationTimeout: number
}

/** The table of the guarded registers. */
export const REGISTERS = 'registers'
