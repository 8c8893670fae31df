import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { type MysqlKind, mysqlPrograms } from './mysql-program.js'
import type { ServerClock } from './server-clock.js'
import { ServerProcess } from './server-process.js'
import { StoppableServer } from './stoppable-server.js'

const run = promisify(execFile)

export interface MysqlServerOptions {
  /** Settings, as on the command line: `{ 'transaction-isolation': 'SERIALIZABLE' }`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** That of the machine unless given. */
  readonly clock?: ServerClock | undefined
  /** Where it keeps its files, which are then left there; a folder of its own, removed with it, unless given. */
  readonly dir?: string | undefined
}

interface Place {
  readonly port: number
  readonly dir: string
  readonly isOwnDir: boolean
  readonly clock: ServerClock | undefined
  readonly settings: Readonly<Record<string, string | number>>
}

/** How a replica gets the changes of its primary. */
export interface ReplicaOptions extends MysqlServerOptions {
  /** The port of a proxy in front of the primary, so that replication can be cut. */
  readonly through?: number
}

/** How long an answer to `query` may take, in milliseconds: a frozen server gives none. */
const LIMIT = 10_000

const DATABASE = 'test'

/** Fast on a machine that may lose all when it crashes. A SIGKILL of the server alone loses nothing that it confirmed. */
const SETTINGS: Readonly<Record<string, string | number>> = {
  'bind-address': '127.0.0.1',
  'innodb-flush-log-at-trx-commit': 2,
  'innodb-buffer-pool-size': '32M',
  'max-connections': 400,
  'performance-schema': 'OFF',
}

const SETTINGS_OF: Readonly<Record<MysqlKind, Readonly<Record<string, string | number>>>> = {
  mysql: { 'skip-log-bin': 'ON', 'innodb-redo-log-capacity': '8M', mysqlx: 'OFF' },
  mariadb: { 'innodb-log-file-size': '8M' },
}

/** Folders with the data of a new server, by kind: making one takes seconds. */
const templates = new Map<MysqlKind, Promise<string>>()

/**
 * A real MySQL or MariaDB of this machine. It listens on 127.0.0.1, has an empty database `test`, and does not outlive the
 * process of the tests. The user root has no password.
 */
export class MysqlServer extends StoppableServer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly kind: MysqlKind
  readonly user = 'root'
  readonly database = DATABASE
  readonly #place: Place

  private constructor(kind: MysqlKind, place: Place) {
    super()
    this.kind = kind
    this.port = place.port
    this.#place = place
  }

  /** Resolves when it answers. */
  static async start(kind: MysqlKind, options: MysqlServerOptions = {}): Promise<MysqlServer> {
    let template = templates.get(kind)
    if (template === undefined) {
      template = createTemplate(kind)
      templates.set(kind, template)
    }
    const source = await template
    const { settings = {}, clock, dir = mkdtempSync(join(tmpdir(), 'leasehold-mysql-')) } = options
    await run('cp', ['-a', source, join(dir, 'data')])
    // With the id of the template, a server could not follow another one.
    rmSync(join(dir, 'data', 'auto.cnf'), { force: true })
    const port = await freePort()
    const { 'skip-log-bin': _, ...others } = SETTINGS_OF[kind]
    const usual = 'log-bin' in settings ? others : SETTINGS_OF[kind]
    const isOwnDir = options.dir === undefined
    const server = new MysqlServer(kind, {
      port,
      dir,
      isOwnDir,
      clock,
      settings: { ...SETTINGS, ...usual, ...settings },
    })
    try {
      await server.#run()
      await server.query(`create database if not exists ${DATABASE}`)
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  get url(): string {
    return `mysql://${this.user}@${this.host}:${this.port}/${this.database}`
  }

  /** Asks once, on a connection of its own. Rejects with the error of the server, and when there is no answer within 10 s. */
  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const { host, port, user } = this
    const connection = await createConnection({ host, port, user, connectTimeout: LIMIT })
    connection.on('error', () => {})
    try {
      await connection.query(`use ${DATABASE}`).catch(() => {})
      const [rows] = await connection.query({ sql, timeout: LIMIT })
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
    } finally {
      connection.destroy()
    }
  }

  /** Ends it as `kill` does, and starts it on the same port with what it has confirmed. */
  async restart(): Promise<void> {
    await this.kill()
    await this.#run()
  }

  /** Ends it, with its data. */
  async stop(): Promise<void> {
    await this.kill()
    if (this.#place.isOwnDir) rmSync(this.#place.dir, { recursive: true, force: true })
  }

  /** Another server, which follows this one, and is read-only until it is promoted. This one needs a binary log. */
  async replica({ through = this.port, settings = {} }: ReplicaOptions = {}): Promise<MysqlServer> {
    const replica = await MysqlServer.start(this.kind, { settings: { 'server-id': 2, ...settings } })
    const [status] = await this.query(this.kind === 'mysql' ? 'show binary log status' : 'show master status')
    const { File: file, Position: position } = status as { File: string; Position: number }
    if (this.kind === 'mysql') {
      await replica.query(
        `change replication source to source_host='127.0.0.1', source_port=${through}, source_user='root', source_log_file='${file}', source_log_pos=${position}, get_source_public_key=1`,
      )
    } else {
      await replica.query(
        `change master to master_host='127.0.0.1', master_port=${through}, master_user='root', master_log_file='${file}', master_log_pos=${position}`,
      )
    }
    await replica.query(this.kind === 'mysql' ? 'start replica' : 'start slave')
    await replica.query('set global read_only = 1')
    return replica
  }

  /** Makes a primary of a replica. */
  async promote(): Promise<void> {
    await this.query(this.kind === 'mysql' ? 'stop replica' : 'stop slave')
    await this.query('set global read_only = 0')
  }

  async #run(): Promise<void> {
    const { dir, clock } = this.#place
    const log = join(dir, 'server.log')
    const settings = Object.entries(this.#place.settings).map(([name, value]) => `--${name}=${value}`)
    const place = [
      ...[`--datadir=${join(dir, 'data')}`, `--port=${this.port}`, `--socket=${join(dir, 'server.sock')}`],
      // In a folder that they share, MariaDB deletes the temporary tables of other servers when it starts.
      ...[`--pid-file=${join(dir, 'server.pid')}`, `--tmpdir=${dir}`],
    ]
    const args = [...argsOf(this.kind), ...place, ...settings]
    this.process = await ServerProcess.spawn(programOf(this.kind), args, log, { clock })
    const started = this.process
    await eventually(`${this.kind} answers on ${this.port}`, async () => {
      return started.hasEnded || (await this.query('select 1')).length === 1
    })
    if (started.hasEnded) throw new Error(`${this.kind} did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
  }
}

async function createTemplate(kind: MysqlKind): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-mysql-new-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  if (kind === 'mysql') {
    await run(programOf(kind), [...argsOf(kind), '--initialize-insecure', `--datadir=${data}`])
    return data
  }
  mkdirSync(data)
  const options = [
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...argsOf(kind).slice(1),
  ]
  await run('mariadb-install-db', ['--no-defaults', ...options], { env: { ...process.env, TMPDIR: folder } })
  return data
}

/** A server refuses to run as root unless it is asked to. */
function argsOf(kind: MysqlKind): readonly string[] {
  const isRoot = process.getuid?.() === 0
  return [...(kind === 'mariadb' ? ['--no-defaults'] : []), ...(isRoot ? ['--user=root'] : [])]
}

function programOf(kind: MysqlKind): string {
  const { path, whyNot } = mysqlPrograms[kind]
  if (path === undefined) throw new Error(whyNot)
  return path
}
