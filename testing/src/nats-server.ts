import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.js'
import { freePorts } from './free-port.js'
import { ServerProcess } from './server-process.js'
import { type ServerProgram, serverProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

/** `nats-server` 2.10. */
export const natsProgram = serverProgram('NATS_SERVER', 'nats-server', 'nats')

/** `nats-server` 2.15. */
export const nats215Program = serverProgram('NATS_SERVER_215', 'nats-server', 'nats215')

export interface NatsServerOptions {
  /** {@link natsProgram} unless given. */
  readonly program?: ServerProgram
  /** Added to its configuration: `authorization { token: t }`. */
  readonly config?: string
  /** Whether it has JetStream, which it has unless given. */
  readonly jetStream?: boolean
  /** The JetStream domain. */
  readonly domain?: string
}

/**
 * The port at which the server with the first number reaches the route port of the one with the second. The servers of such a
 * cluster tell each other and their clients no addresses, by which these would go past it.
 */
type RouteWay = (from: number, to: number, port: number) => Promise<number>

/** Told to servers that are to find each other by their ways only: nothing listens there. */
const NOWHERE = '127.0.0.1:1'

/** What `/jsz` says about streams. */
interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly cluster?: { readonly leader?: string } }[]
  }[]
}

interface Place {
  readonly name: string
  readonly dir: string
  readonly port: number
  readonly monitorPort: number
  readonly routePort: number
  readonly options: NatsServerOptions
}

/** A real `nats-server` of this machine. It listens on 127.0.0.1, and does not outlive the process of the tests. */
export class NatsServer extends StoppableServer {
  readonly name: string
  readonly port: number
  readonly url: string
  readonly #place: Place
  readonly #routes: readonly number[]
  readonly #isQuiet: boolean

  /** `isQuiet`: it tells no addresses. */
  private constructor(place: Place, routes: readonly number[], isQuiet = false) {
    super()
    this.#place = place
    this.#routes = routes
    this.#isQuiet = isQuiet
    this.name = place.name
    this.port = place.port
    this.url = `nats://127.0.0.1:${place.port}`
  }

  /** Resolves when JetStream can be used. */
  static async start(options: NatsServerOptions = {}): Promise<NatsServer> {
    const server = new NatsServer(await freshPlace('n0', options), [])
    await server.start()
    return server
  }

  /** The servers of one cluster; resolves when JetStream has a leader. `way`: they reach each other directly unless given. */
  static async cluster(size: number, options: NatsServerOptions = {}, way?: RouteWay): Promise<readonly NatsServer[]> {
    const places: Place[] = []
    for (let count = 0; count < size; count += 1) places.push(await freshPlace(`n${count}`, options))
    const routes = places.map(({ routePort }) => routePort)
    const servers: NatsServer[] = []
    for (const [from, place] of places.entries()) {
      const ways = way === undefined ? routes : await Promise.all(routes.map((port, to) => way(from, to, port)))
      servers.push(new NatsServer(place, ways, way !== undefined))
    }
    try {
      await Promise.all(servers.map((server) => server.start()))
      await eventually('a leader has seen all servers', async () => {
        const clusters = await Promise.all(servers.map((server) => server.#metaCluster()))
        return clusters.some(({ replicas = [] }) => replicas.filter(({ current }) => current).length === size - 1)
      })
      return servers
    } catch (error) {
      for (const server of servers) await server.stop()
      throw error
    }
  }

  /** Starts it, again with its data. */
  async start(): Promise<void> {
    await this.launch()
    await this.ready()
  }

  /** Starts its process, again with its data, and does not wait until it is well: without a quorum it never is. */
  async launch(): Promise<void> {
    const { program = natsProgram } = this.#place.options
    if (program.path === undefined) throw new Error(program.whyNot)
    const { dir } = this.#place
    const file = join(dir, 'nats.conf')
    writeFileSync(file, this.#config())
    this.process = await ServerProcess.spawn(program.path, ['-c', file], join(dir, 'nats.log'))
  }

  /** Reads its configuration again, with another part. */
  reload(config: string): void {
    writeFileSync(join(this.#place.dir, 'nats.conf'), this.#config(config))
    this.running().signal('SIGHUP')
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends it, with its data. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#place.dir, { recursive: true, force: true })
  }

  get log(): string {
    return readFileSync(join(this.#place.dir, 'nats.log'), 'utf8').slice(-3_000)
  }

  /** The servers that keep the settings of JetStream, as this one sees them; its leader has the `replicas`. */
  async #metaCluster(): Promise<{ readonly replicas?: readonly { readonly current: boolean }[] }> {
    return ((await this.monitor('/jsz')) as { meta_cluster?: object }).meta_cluster ?? {}
  }

  /** The answer of its monitoring port. Rejects when it takes longer than two seconds. */
  async monitor(path: string): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${this.#place.monitorPort}${path}`, {
      signal: AbortSignal.timeout(2_000),
    })
    return await answer.json()
  }

  /** Whether it leads the stream, as it sees it itself. */
  async leads(stream: string): Promise<boolean> {
    const { account_details: accounts = [] } = (await this.monitor('/jsz?accounts=1&streams=1')) as Jsz
    const streams = accounts.flatMap(({ stream_detail = [] }) => stream_detail)
    return streams.some(({ name, cluster }) => name === stream && cluster?.leader === this.name)
  }

  #config(extra = this.#place.options.config ?? ''): string {
    const { name, dir, port, monitorPort, routePort, options } = this.#place
    const { domain, jetStream = true } = options
    const others = this.#routes.map((route) => `nats://127.0.0.1:${route}`)
    const quiet = this.#isQuiet ? `, no_advertise: true, advertise: "${NOWHERE}"` : ''
    return [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "127.0.0.1:${monitorPort}"`,
      jetStream ? `jetstream { store_dir: "${join(dir, 'data')}"${domain ? `, domain: ${domain}` : ''} }` : '',
      others.length === 0
        ? ''
        : `cluster { name: c, listen: "127.0.0.1:${routePort}", routes: ${JSON.stringify(others)}${quiet} }`,
      extra,
    ].join('\n')
  }

  /** Resolves when JetStream can be used here. */
  async ready(): Promise<void> {
    const started = this.running()
    const path = this.#place.options.jetStream === false ? '/healthz?js-enabled-only=false' : '/healthz'
    await eventually(`nats-server answers on ${this.port}`, async () => {
      if (started.hasEnded) return true
      const answer = await fetch(`http://127.0.0.1:${this.#place.monitorPort}${path}`)
      return answer.ok
    })
    if (started.hasEnded) throw new Error(`nats-server did not start: ${this.log}`)
  }
}

async function freshPlace(name: string, options: NatsServerOptions): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'leasehold-nats-'))
  const { port, monitorPort, routePort } = await freePorts('port', 'monitorPort', 'routePort')
  return { name, dir, port, monitorPort, routePort, options }
}
