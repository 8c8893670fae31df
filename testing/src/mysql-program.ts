import { type ServerProgram, serverProgram } from './server-program.js'

/** The servers that speak the protocol of MySQL. */
export type MysqlKind = 'mysql' | 'mariadb'

/** `mysqld` by the variable `MYSQL_SERVER`, `mariadbd` by `MARIADB_SERVER`. */
export const mysqlPrograms: Readonly<Record<MysqlKind, ServerProgram>> = {
  mysql: serverProgram('MYSQL_SERVER', 'mysqld'),
  mariadb: serverProgram('MARIADB_SERVER', 'mariadbd'),
}
