import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { pgBouncerBinary, whyNoPgBouncer } from './postgres-binary.js'
import { own, postgresFolder } from './postgres-folder.js'
import type { PostgresServer } from './postgres-server.js'
import { serverAccount } from './server-account.js'
import { ServerProcess } from './server-process.js'

export interface PgBouncerOptions {
  /** When a connection of the server goes to another client; after each transaction unless given. */
  readonly poolMode?: 'session' | 'transaction' | 'statement'
  /** How many connections to the server it has at most; 20 unless given. */
  readonly poolSize?: number
}

/** A real PgBouncer in front of a server. It asks for no password, and does not outlive the process of the tests. */
export class PgBouncer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly user: string
  readonly database: string
  readonly #dir: string
  readonly #process: ServerProcess

  private constructor(port: number, server: PostgresServer, dir: string, started: ServerProcess) {
    this.port = port
    this.user = server.user
    this.database = server.database
    this.#dir = dir
    this.#process = started
  }

  /** Resolves when the server answers through it. */
  static async start(server: PostgresServer, options: PgBouncerOptions = {}): Promise<PgBouncer> {
    if (pgBouncerBinary === undefined) throw new Error(whyNoPgBouncer)
    const [dir, port] = [postgresFolder(), await freePort()]
    const config = join(dir, 'pgbouncer.ini')
    writeFileSync(config, configOf(server, dir, port, options))
    own(config)
    const log = join(dir, 'pgbouncer.log')
    const started = await ServerProcess.spawn(pgBouncerBinary, [config], log, { account: serverAccount(), cwd: dir })
    const bouncer = new PgBouncer(port, server, dir, started)
    try {
      await eventually(`PgBouncer answers on ${port}`, async () => started.hasEnded || (await answers(bouncer)))
      if (started.hasEnded) throw new Error(`PgBouncer did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
      return bouncer
    } catch (error) {
      await bouncer.stop()
      throw error
    }
  }

  /** As clients take it. */
  get url(): string {
    return `postgres://${this.user}@${this.host}:${this.port}/${this.database}`
  }

  /** Ends it with SIGKILL, with all connections, and removes its folder. */
  async stop(): Promise<void> {
    await this.#process.end()
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

function configOf(server: PostgresServer, dir: string, port: number, options: PgBouncerOptions): string {
  const { poolMode = 'transaction', poolSize = 20 } = options
  return `[databases]
* = host=${server.host} port=${server.port} user=${server.user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${dir}
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 1000
server_login_retry = 1
`
}

async function answers({ url }: PgBouncer): Promise<boolean> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query('SELECT 1')).rowCount === 1
  } finally {
    await client.end()
  }
}
