import { accessSync, constants, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const askedFolder = process.env.POSTGRES_BIN ?? ''
const askedBouncer = process.env.PGBOUNCER ?? ''

const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')

/** Where servers for tests may be unpacked. */
const cache = process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers')

/** Where Debian and the cache keep the versions of PostgreSQL, each in a folder named by its number. */
const versionFolders = ['/usr/lib/postgresql', join(cache, 'postgres')]

/** The folder with `postgres`, `initdb` and `pg_basebackup`; `undefined` where this machine has none. */
export const postgresBin: string | undefined = askedFolder === '' ? foundFolder() : wholeFolder(askedFolder)

/** The path of `pgbouncer`; `undefined` where this machine has none. */
export const pgBouncerBinary: string | undefined =
  askedBouncer === ''
    ? [...path, '/usr/sbin', join(cache, 'pgbouncer')].map((folder) => join(folder, 'pgbouncer')).find(isProgram)
    : [askedBouncer].find(isProgram)

/** Why there is no real PostgreSQL here; `undefined` where there is. */
export const whyNoPostgres: string | undefined =
  postgresBin === undefined
    ? why('PostgreSQL', 'postgresql', 'POSTGRES_BIN (the folder of its programs)', askedFolder)
    : undefined

/** Why there is no PgBouncer in front of a real PostgreSQL here; `undefined` where there is. */
export const whyNoPgBouncer: string | undefined =
  whyNoPostgres ??
  (pgBouncerBinary === undefined ? why('PgBouncer', 'pgbouncer', 'PGBOUNCER', askedBouncer) : undefined)

function why(server: string, debian: string, variable: string, asked: string): string {
  const missing = asked === '' ? `${server} was not found` : `${server} is not at ${asked}`
  return `${missing}: install Debian's ${debian} package or set ${variable}`
}

function foundFolder(): string | undefined {
  // A program on the path may be a link out of the folder in which the others are.
  const linked = path.map((folder) => join(folder, 'postgres')).filter(isProgram)
  const versioned = versionFolders.flatMap((folder) =>
    versionsIn(folder).map((version) => join(folder, version, 'bin')),
  )
  return [...linked.map((program) => dirname(realpathSync(program))), ...versioned]
    .map(wholeFolder)
    .find((folder) => folder !== undefined)
}

/** The newest first. */
function versionsIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort((a, b) => Number(b) - Number(a))
  } catch {
    return []
  }
}

function wholeFolder(folder: string): string | undefined {
  const isWhole = ['postgres', 'initdb', 'pg_basebackup'].every((program) => isProgram(join(folder, program)))
  return isWhole ? folder : undefined
}

function isProgram(program: string): boolean {
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}
