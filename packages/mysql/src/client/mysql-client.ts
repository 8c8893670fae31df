/** The part of a connection of mysql2/promise or mariadb that the store uses. */
export interface MysqlConnection {
  query(sql: string): PromiseLike<unknown>
  destroy(): void
}

/** A connection of a pool. */
export interface MysqlPoolConnection extends MysqlConnection {
  release(): unknown
}

/** The part of a pool of mysql2/promise or mariadb that the store uses. */
export interface MysqlPool {
  getConnection(): PromiseLike<MysqlPoolConnection>
}

/** A pool or a connection of mysql2 with callbacks. */
export interface Mysql2Callbacks {
  promise(): MysqlPool | MysqlConnection
}

/** A pool or a connection of mysql2, with promises or callbacks, or of mariadb. */
export type MysqlClient = MysqlPool | MysqlConnection | Mysql2Callbacks
