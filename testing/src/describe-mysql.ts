import { describeUnless } from './describe-unless.js'
import { type MysqlKind, mysqlPrograms } from './mysql-program.js'

const KINDS: readonly MysqlKind[] = ['mysql', 'mariadb']

/** Tests that start real servers, once for MySQL and once for MariaDB: skipped where there is no such server. */
export function describeMysql(title: string, tests: (kind: MysqlKind) => void, kinds = KINDS): void {
  for (const kind of kinds) describeUnless(mysqlPrograms[kind].whyNot, `${kind}: ${title}`, () => tests(kind))
}
