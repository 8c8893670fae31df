import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { Client } from 'pg'
import { certificate } from './certificate.js'
import { childProcesses } from './child-processes.js'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import {
  createCluster,
  initCluster,
  own,
  postgresFolder,
  programOf,
  runPostgresProgram,
  SUPERUSER,
  writeAccess,
} from './postgres-folder.js'
import { serverAccount } from './server-account.js'
import type { ServerClock } from './server-clock.js'
import { ServerProcess } from './server-process.js'

export interface PostgresServerOptions {
  /** Settings, as in postgresql.conf: `{ default_transaction_isolation: 'serializable' }`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Required from clients over TCP. Without it, everybody may do everything. */
  readonly password?: string
  /** It then accepts TLS only, under a certificate for `127.0.0.1` and `localhost`: see `ca`. */
  readonly tls?: boolean
  /** Where it keeps its files, which are then left there; a folder of its own, removed with it, unless given. */
  readonly dir?: string
  /** Added to the command line of `initdb`, for a cluster that is no copy of the template. */
  readonly initdb?: readonly string[]
  /** That of the machine unless given. */
  readonly clock?: ServerClock | undefined
}

interface Place extends PostgresServerOptions {
  readonly port: number
  readonly dir: string
  readonly isOwnDir: boolean
  readonly ca: string | undefined
}

/** How a standby gets the changes of its primary. */
export interface StandbyOptions extends PostgresServerOptions {
  /** The port of a proxy in front of the primary, so that replication can be cut. */
  readonly through?: number
  /** As the primary knows it, such as in `synchronous_standby_names`; a random one unless given. */
  readonly name?: string
}

/** How often another port is tried, or the end of the processes of a killed server is awaited. */
const ATTEMPTS = 25

/** How long an answer to `query` may take, in milliseconds: a frozen server gives none. */
const LIMIT = 10_000

/** How long an orderly end may take, in milliseconds. */
const PATIENCE = 10_000

/** Fast on a machine that may lose all when it crashes. A SIGKILL of the server alone loses nothing that it confirmed. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: 200,
  wal_keep_size: '64MB',
  // A killed server leaves nothing outside its folder.
  dynamic_shared_memory_type: 'mmap',
}

/**
 * A real PostgreSQL of this machine. It listens on 127.0.0.1 and on a socket in its folder, runs as an unprivileged user if
 * this process is root, and does not outlive the process of the tests.
 */
export class PostgresServer {
  readonly host = '127.0.0.1'
  readonly port: number
  /** Its folder, with its socket and its log. */
  readonly dir: string
  readonly user = SUPERUSER
  readonly database = 'postgres'
  readonly password: string | undefined
  /** The certificate that clients have to trust, where it speaks TLS. */
  readonly ca: string | undefined
  readonly #place: Place
  #process: ServerProcess | undefined
  #frozen: readonly number[] = []

  private constructor(place: Place) {
    this.#place = place
    this.port = place.port
    this.dir = place.dir
    this.password = place.password
    this.ca = place.ca
  }

  /** Resolves when it answers. */
  static start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    return PostgresServer.#launch(options, async ({ dir, initdb, password, tls = false, ca }) => {
      if (initdb === undefined) await createCluster(dir)
      else await initCluster(dir, initdb)
      writeAccess(dir, { password: password !== undefined, tls })
      if (ca !== undefined) await writeCertificate(dir)
    })
  }

  static async #launch(
    options: PostgresServerOptions,
    fill: (place: Place) => Promise<void>,
    extra: (place: Place) => Readonly<Record<string, string | number>> = () => ({}),
  ): Promise<PostgresServer> {
    const dir = options.dir ?? postgresFolder()
    if (options.dir !== undefined) own(dir)
    const ca = options.tls === true ? (await certificate()).cert : undefined
    const place = { ...options, port: await freePort(), dir, isOwnDir: options.dir === undefined, ca }
    const settings = { ...options.settings, ...extra(place) }
    const server = new PostgresServer({ ...place, settings })
    try {
      if (!existsSync(join(dir, 'data'))) await fill(place)
      await server.#run()
      const { password } = options
      if (password !== undefined)
        await server.query(`ALTER ROLE ${SUPERUSER} PASSWORD '${password.replaceAll("'", "''")}'`)
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** As clients take it, with the password. */
  get url(): string {
    const access = this.password === undefined ? '' : `:${encodeURIComponent(this.password)}`
    return `postgres://${this.user}${access}@${this.host}:${this.port}/${this.database}`
  }

  /** Of its main process, which is another after a restart. */
  get pid(): number {
    return this.#running().pid
  }

  /** Its log, from its first start. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8')
  }

  /**
   * Asks once, on a connection of its own over the socket in its folder, as the superuser. Rejects with the error of the
   * server, and when there is no answer within 10 s.
   */
  async query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const client = new Client({
      host: this.dir,
      port: this.port,
      user: this.user,
      database: this.database,
      connectionTimeoutMillis: LIMIT,
      query_timeout: LIMIT,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query(text, values === undefined ? undefined : [...values])
      return rows as Row[]
    } finally {
      // A frozen server does not say goodbye.
      void client.end().catch(() => {})
    }
  }

  /** Stops all its processes with SIGSTOP: all requests, and new connections, hang from now on. */
  freeze(): void {
    const server = this.#running()
    // First, so that no process begins afterwards.
    server.signal('SIGSTOP')
    this.#frozen = childProcesses(server.pid)
    for (const pid of this.#frozen) signal(pid, 'SIGSTOP')
  }

  thaw(): void {
    for (const pid of this.#frozen) signal(pid, 'SIGCONT')
    this.#frozen = []
    this.#running().signal('SIGCONT')
  }

  /** Ends all its processes with SIGKILL, frozen or not. */
  async kill(): Promise<void> {
    const server = this.#process
    if (server === undefined) return
    const children = server.hasEnded ? [] : childProcesses(server.pid)
    const ended = server.end()
    for (const pid of children) signal(pid, 'SIGKILL')
    this.#frozen = []
    await ended
  }

  /** Ends it as `kill` does, and starts it on the same port with what it has confirmed. */
  async restart(): Promise<void> {
    await this.kill()
    await this.#run()
  }

  /** Ends it in an orderly way, connections or not, and leaves its folder: `restart` starts it again. */
  async shutDown(): Promise<void> {
    if (this.#process === undefined) return
    if (this.#frozen.length > 0) this.thaw()
    const limit = systemClock.schedule(PATIENCE, () => void this.kill())
    // An orderly end removes the shared memory of the server.
    await this.#process.end('SIGINT')
    limit()
  }

  /** Ends it, frozen or not, and removes its folder. */
  async stop(): Promise<void> {
    await this.shutDown()
    if (this.#place.isOwnDir) rmSync(this.dir, { recursive: true, force: true })
  }

  /** Another server, which follows this one, and is read-only until it is promoted. */
  async standby(standby: StandbyOptions = {}): Promise<PostgresServer> {
    const { through = this.port, name = `standby-${randomUUID()}`, ...options } = standby
    const primary = `host=${this.host} port=${through} user=${this.user} application_name=${name}`
    return await PostgresServer.#launch(
      options,
      ({ dir }) => {
        const source = ['-h', this.dir, '-p', String(this.port), '-U', this.user]
        const target = ['-D', join(dir, 'data'), '-X', 'stream', '-R', '-c', 'fast', '--no-sync']
        return runPostgresProgram('pg_basebackup', [...source, ...target], dir)
      },
      () => ({ primary_conninfo: primary }),
    )
  }

  /** Makes the primary of a standby; resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 60)')
    await eventually('the standby is the primary', async () => {
      const [row] = await this.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
      return row?.standby === false
    })
  }

  /** Ends the connections of all clients, or those of one application; resolves with how many there were. */
  async terminateBackends(application?: string): Promise<number> {
    const rows = await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND ($1::text IS NULL OR application_name = $1)`,
      [application ?? null],
    )
    return rows.length
  }

  get #logFile(): string {
    return join(this.dir, 'postgres.log')
  }

  #running(): ServerProcess {
    if (this.#process === undefined) throw new Error('this server was never started')
    return this.#process
  }

  async #run(): Promise<void> {
    const all = { ...SETTINGS, port: this.port, unix_socket_directories: this.dir, ...tlsSettings(this.#place) }
    const settings = Object.entries({ ...all, ...this.#place.settings })
    const args = ['-D', join(this.dir, 'data'), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    for (let attempt = 1; ; attempt += 1) {
      const before = existsSync(this.#logFile) ? statSync(this.#logFile).size : 0
      this.#process = await ServerProcess.spawn(programOf('postgres'), args, this.#logFile, {
        account: serverAccount(),
        cwd: this.dir,
        clock: this.#place.clock,
      })
      if (await this.#answers(this.#process)) return
      const said = this.log.slice(before)
      // The processes of a killed server need a moment to end, and on a busy machine seconds.
      if (!said.includes('shared memory block') || attempt === ATTEMPTS)
        throw new Error(`PostgreSQL did not start: ${said.slice(-2_000)}`)
      await sleep(50 * attempt)
    }
  }

  /** Whether it answers, rather than has ended. */
  async #answers(started: ServerProcess): Promise<boolean> {
    await eventually(`PostgreSQL answers on ${this.port}`, async () => {
      return started.hasEnded || (await this.query('SELECT 1')).length === 1
    })
    return !started.hasEnded
  }
}

/** Of a process that may have exited. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function writeCertificate(dir: string): Promise<void> {
  const { cert, key } = await certificate()
  for (const [name, text] of Object.entries({ 'cert.pem': cert, 'key.pem': key })) {
    writeFileSync(join(dir, name), text, { mode: 0o600 })
    own(join(dir, name))
  }
}

function tlsSettings({ dir, ca }: Place): Readonly<Record<string, string>> {
  if (ca === undefined) return {}
  return { ssl: 'on', ssl_cert_file: join(dir, 'cert.pem'), ssl_key_file: join(dir, 'key.pem') }
}
