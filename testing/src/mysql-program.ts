import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { type ServerProgram, serverProgram } from './server-program.js'

/** The servers that speak the protocol of MySQL. */
export type MysqlKind = 'mysql' | 'mariadb'

/** `mysqld` by the variable `MYSQL_SERVER`, `mariadbd` by `MARIADB_SERVER`. */
export const mysqlPrograms: Readonly<Record<MysqlKind, ServerProgram>> = {
  mysql: notMariadb(serverProgram('MYSQL_SERVER', 'mysqld')),
  mariadb: serverProgram('MARIADB_SERVER', 'mariadbd'),
}

/** Packages of MariaDB have a `mysqld` too. */
function notMariadb(program: ServerProgram): ServerProgram {
  if (program.path === undefined || basename(realpathSync(program.path)) !== 'mariadbd') return program
  return { path: undefined, whyNot: `${program.path} is a MariaDB: set MYSQL_SERVER to the mysqld of MySQL` }
}
