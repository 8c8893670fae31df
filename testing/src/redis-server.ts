import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedCertificate } from './certificate.js'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { type RedisReply, redisCommand } from './redis-command.js'
import { redisProgram } from './redis-program.js'
import type { ServerClock } from './server-clock.js'
import { ServerProcess } from './server-process.js'
import type { ServerProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

export interface RedisServerOptions {
  /** `redis-server` unless given. */
  readonly program?: ServerProgram
  /** Any free port unless given. A function returns one, and is called again if another process takes that port. */
  readonly port?: number | (() => Promise<number>)
  /** Added to the command line, where the last of two contradicting arguments counts: `['--appendonly', 'yes']`. */
  readonly args?: readonly string[]
  /** The text of its configuration file; it has none unless given. */
  readonly config?: string
  /** Without it, everybody may do everything. */
  readonly password?: string
  /** It then speaks TLS only, under a certificate for `127.0.0.1` and `localhost`: see `ca`. */
  readonly tls?: boolean
  /** Where it keeps its files, which are then left there; a folder of its own that goes with it, unless given. */
  readonly dir?: string
  /** That of the machine unless given. */
  readonly clock?: ServerClock | undefined
}

interface Place {
  readonly program: ServerProgram
  readonly port: number
  readonly dir: string
  readonly isOwnDir: boolean
  readonly password: string | undefined
  readonly ca: string | undefined
  readonly args: readonly string[]
  readonly clock: ServerClock | undefined
}

/** How often another port is tried. */
const ATTEMPTS = 5

/**
 * A real `redis-server` of this machine, or a `valkey-server`. It listens on 127.0.0.1, keeps nothing on disk unless its options say so, and does
 * not outlive the process of the tests.
 */
export class RedisServer extends StoppableServer {
  readonly port: number
  readonly dir: string
  readonly password: string | undefined
  /** The certificate that clients have to trust; where it speaks TLS. */
  readonly ca: string | undefined
  readonly #place: Place

  private constructor(place: Place) {
    super()
    this.#place = place
    this.port = place.port
    this.dir = place.dir
    this.password = place.password
    this.ca = place.ca
  }

  /** Resolves when it answers. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const { port = freePort } = options
    for (let attempt = 1; ; attempt += 1) {
      const server = new RedisServer(await prepare(typeof port === 'number' ? port : await port(), options))
      try {
        await server.#run()
        return server
      } catch (error) {
        await server.stop()
        const isTaken = String(error).includes('in use')
        if (!isTaken || typeof port === 'number' || attempt === ATTEMPTS) throw error
      }
    }
  }

  /** As clients take it, the password in it. */
  get url(): string {
    const access = this.password === undefined ? '' : `:${encodeURIComponent(this.password)}@`
    return `${this.ca === undefined ? 'redis' : 'rediss'}://${access}127.0.0.1:${this.port}`
  }

  /** Ends it as `kill` does, and starts it on the same port and folder: empty, unless it kept its data on disk. */
  async restart(): Promise<void> {
    await this.kill()
    await this.#run()
  }

  /** Ends it, frozen or not, with its folder. */
  async stop(): Promise<void> {
    await this.kill()
    if (this.#place.isOwnDir) rmSync(this.dir, { recursive: true, force: true })
  }

  /** Rejects with an error of the server, whose message begins with its code; and without an answer within 5 s. */
  command(...args: readonly (string | number)[]): Promise<RedisReply> {
    return redisCommand(this, args)
  }

  async #run(): Promise<void> {
    const { program, args, clock } = this.#place
    if (program.path === undefined) throw new Error(program.whyNot)
    const log = join(this.dir, 'redis.log')
    const started = await ServerProcess.spawn(program.path, args, log, { clock })
    this.process = started
    await eventually(`redis-server answers on ${this.port}`, async () => {
      if (started.hasEnded) return true
      if ((await this.command('PING')) !== 'PONG') return false
      // If another process has the port, that one answers until this server has noticed.
      return String(await this.command('INFO', 'server')).includes(`process_id:${started.pid}\r`)
    })
    if (started.hasEnded) throw new Error(`redis-server did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
  }
}

async function prepare(port: number, options: RedisServerOptions): Promise<Place> {
  const { program = redisProgram, config, password, tls = false, args = [] } = options
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'leasehold-redis-'))
  const keep = (file: string, text: string): string => {
    writeFileSync(join(dir, file), text)
    return join(dir, file)
  }
  const pems = tls ? await signedCertificate() : undefined
  const listening =
    pems === undefined
      ? ['--port', `${port}`]
      : [
          ...['--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
          ...['--tls-cert-file', keep('cert.pem', pems.cert), '--tls-key-file', keep('key.pem', pems.key)],
        ]
  return {
    program,
    port,
    dir,
    isOwnDir: options.dir === undefined,
    password,
    ca: pems?.ca,
    clock: options.clock,
    args: [
      ...(config === undefined ? [] : [keep('redis.conf', config)]),
      ...listening,
      ...['--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no', '--loglevel', 'warning'],
      ...['--save', '', '--appendonly', 'no'],
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...args,
    ],
  }
}
